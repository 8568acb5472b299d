import { describe, expect, it, onTestFinished } from 'vitest';
import { EXPIRING_TABLES, MAX_EXPIRED_AT_ONCE, removeExpired } from '../../src/store/common/expired.ts';
import { openDatabase, transaction } from '../../src/store/database/database.ts';
import { prepareHousekeeping } from '../../src/watch/housekeeping.ts';
import { createRole, useDatabase } from '../support/postgres/database.ts';
import { whileHeld } from '../support/postgres/locks.ts';
import { plant } from '../support/postgres/plant.ts';
import { onDatabase, runAssent } from '../support/process/process.ts';

const database = await useDatabase();
const { pool } = database;
await pool.query(
  `insert into users (user_id, login, login_key, name, password_hash) values (gen_random_uuid(), 'u', 'u', 'U', '')`,
);

/** The statement that inserts `n` rows that expired `age` ago. */
const rowsOf: Record<(typeof EXPIRING_TABLES)[number], (age: string, n: number) => string> = {
  sessions: (age, n) => `insert into sessions (session_hash, user_id, created_at, seen_at)
    select sha256(uuid_send(gen_random_uuid())), user_id, now() - interval '12 hours' - interval '${age}', now() from users, generate_series(1, ${n})`,
  rejections: (age, n) =>
    `insert into rejections select sha256(uuid_send(gen_random_uuid())), now() - interval '${age}' from generate_series(1, ${n})`,
  operator_sessions: (age, n) => `insert into operator_sessions (session_hash, token_hash, expires_at)
    select sha256(uuid_send(gen_random_uuid())), sha256(''), now() - interval '${age}' from generate_series(1, ${n})`,
  refusals: (age, n) => `insert into refusals (at, reference, method, path, status, error, rule)
    select now() - interval '7 days' - interval '${age}', 'r', 'GET', '/', 400, 'e', 'r' from generate_series(1, ${n})`,
  // 10 attempts of the kind that decays slowest: one in 10 minutes.
  throttles: (age, n) => `insert into throttles (slot, level, counted_at, free_at)
    select n + (random() * 1000000)::int * 1000, 10, now() - interval '100 minutes' - interval '${age}', now() - interval '1 day' from generate_series(1, ${n}) n`,
};

const counted = async (table: string) =>
  (await pool.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n;

/** Keeps house. @returns the lines of the log */
async function keepHouse(db = pool, rounds = 1): Promise<string[]> {
  const lines: string[] = [];
  const log = {
    info: (line: string) => lines.push(line),
    warn: (line: string) => lines.push(`warning: ${line}`),
  };
  const housekeeping = prepareHousekeeping({ db }, log);
  for (let round = 0; round < rounds; round += 1) await housekeeping.keep();
  return lines;
}

describe('an expired row', () => {
  it.each(EXPIRING_TABLES)('is removed by a server, which keeps all other rows: table %s', async (table) => {
    const expired = rowsOf[table]('1 second', MAX_EXPIRED_AT_ONCE + 1);
    await plant(database, `truncate ${table}`, rowsOf[table]('-1 minute', 3), expired);
    expect(await keepHouse()).toEqual([]);
    expect(await counted(table)).toBe(3);
  });

  it('is skipped if it is locked', async () => {
    await plant(database, 'truncate sessions', rowsOf.sessions('1 second', 2));
    await whileHeld(pool, 'select from sessions limit 1 for update', [], async () => {
      await keepHouse();
      expect(await counted('sessions')).toBe(1);
    });
    await keepHouse();
    expect(await counted('sessions')).toBe(0);
  });

  it('is left to another server that is removing it', async () => {
    await plant(database, 'truncate rejections', rowsOf.rejections('1 second', 2));
    await plant(database, rowsOf.sessions('1 second', 1));
    await transaction(pool, async (first) => {
      expect(await removeExpired.sessions(first)).toBe(1);
      expect(await removeExpired.rejections(pool)).toBe(0);
    });
    expect(await removeExpired.rejections(pool)).toBe(2);
  });
});

describe('housekeeping', () => {
  it('continues without a warning while the database is unreachable', async () => {
    const away = openDatabase('postgres://nobody@127.0.0.1:9/nothing');
    expect(await keepHouse(away, 2)).toEqual([]);
    await away.end();
  });

  it('logs missing privileges of its role', async () => {
    const servers = openDatabase((await createRole()).urlOf(database));
    const warning = /^warning: could not remove expired rows: .*permission denied for table sessions/;
    expect(await keepHouse(servers)).toEqual([expect.stringMatching(warning)]);
    await servers.end();
  });

  it('creates partitions for future months as table owner, and warns under a server’s role', async () => {
    const months = `select oid::regclass::text as name from pg_class where relname ~ '^audit_events_\\d{4}_\\d{2}$' order by relname desc`;
    const { rows } = await pool.query<{ name: string }>(months);
    const last = rows.slice(0, 11).map(({ name }) => name);
    const role = await createRole();
    expect((await runAssent(['migrate', '--server-role', role.name], onDatabase(database.url))).code).toBe(0);
    const servers = openDatabase(role.urlOf(database));
    onTestFinished(() => servers.end());
    expect(await keepHouse(servers)).toEqual([]);
    for (const name of last) await pool.query(`drop table ${name}`);
    expect(await keepHouse(servers)).toEqual([
      'warning: the audit trail has partitions for only 1 more months: run assent maintain as the owner of the tables',
    ]);
    expect((await keepHouse()).toSorted()).toEqual(
      last.map((name) => `created partition ${name}`).toSorted(),
    );
    expect((await pool.query(months)).rows).toEqual(rows);
  });
});
