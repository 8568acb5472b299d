import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Standbys } from '../../src/flows/standbys.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { Positions } from '../../src/store/database/position.ts';
import { openStandbys } from '../../src/store/database/standby.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { grantServerRole } from '../../src/store/schema/serverRole.ts';
import { introspect, tokenRequestOf } from '../support/flow.ts';
import { intercept } from '../support/intercept.ts';
import { issue } from '../support/issuing.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process.ts';
import { type Host, type Replication, startReplication } from '../support/replication.ts';
import { startServer, type TestClient, type TestServer, type TestUser } from '../support/server.ts';

/** More with `npm run standbys`. */
const ROUNDS = Number(process.env.STANDBY_ROUNDS ?? 100);
const AT_ONCE = 16;
const LAG_MS = 1_500;
/** So long standby `b` waits before it replays a commit: what it says is old as a rule, not by chance. */
const DELAY_MS = 30;

/** Servers need no more than this one may do, on standbys neither. */
const ROLE = 'assent_server';

/** A server that asks standbys. */
interface Reader {
  readonly server: TestServer;
  readonly standbys: Standbys;
  /** What the log says of them. */
  readonly log: { readonly message: string; readonly reason?: string }[];
  /** How many statements about tokens the primary was asked. */
  asked(): number;
  close(): Promise<void>;
}

let replication: Replication;
let a: Host;
let b: Host;
let client: TestClient;
let user: TestUser;
let resource: string;
let pool: pg.Pool;
const open: Reader[] = [];

beforeAll(async () => {
  replication = await startReplication(['a', 'b'], {
    standbys: { b: { recovery_min_apply_delay: `${DELAY_MS}ms` } },
  });
  [a, b] = replication.standbys as [Host, Host];
  pool = openDatabase(replication.primary.url());
  await migrate(pool);
  await pool.query(`create role ${ROLE} login`);
  await grantServerRole(pool, ROLE, 'tests');
  const { server } = await startReader(0);
  client = await server.createClient();
  user = await server.createUser();
  resource = await server.createResource();
});

afterEach(async () => {
  for (const reader of open.splice(0)) await reader.close();
});

afterAll(async () => {
  for (const reader of open.splice(0)) await reader.close();
  await pool?.end();
  await replication?.remove();
});

async function startReader(
  lagMs: number,
  host = replication.primary,
  followers = replication.standbys,
): Promise<Reader> {
  const own = openDatabase(host.url('postgres', ROLE));
  let asked = 0;
  const primary = intercept(own, (statement, run) => {
    if (statement.name === 'token-find') asked += 1;
    return run();
  });
  const url = `postgres://${ROLE}@${followers.map(({ address }) => address).join(',')}/postgres`;
  const hosts = openStandbys(url, null, new Positions(primary, lagMs));
  const log: { message: string }[] = [];
  const note = (details: object, message: string) => log.push({ ...details, message });
  const standbys = new Standbys(hosts, { error: note, warn: note });
  const database = { pool: primary, url: host.url(), drop: async () => {} };
  const server = await startServer({ database, standbys });
  const reader = {
    server,
    standbys,
    log,
    asked: () => asked,
    async close() {
      await server.close();
      await Promise.all([own, ...hosts.map((host) => host.pool)].map((each) => each.end()));
    },
  };
  open.push(reader);
  if (host === replication.primary)
    await vi.waitUntil(() => standbys.inUse === hosts.length, { timeout: 20_000, interval: 10 });
  return reader;
}

const some = (kind: 'code' | 'token', count: number) => issue(pool, kind, count, { client, user });

async function post(server: TestServer, path: string, fields: Record<string, string>): Promise<Response> {
  return fetch(`${server.baseUrl}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
}

async function revoke({ server }: Reader, token: string): Promise<void> {
  const { clientId, clientSecret } = client;
  const fields = { token, client_id: clientId, client_secret: clientSecret ?? '' };
  expect((await post(server, '/oauth/revoke', fields)).status).toBe(200);
}

async function exchange({ server }: Reader, code: string): Promise<string> {
  const answer = await post(server, '/oauth/token', tokenRequestOf(client, code));
  return ((await answer.json()) as { access_token: string }).access_token;
}

const isActive = async ({ server }: Reader, token: string) =>
  (await introspect(server, resource, token)).active;

/** Does something with each, some at once. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Asks until the token is refused. @returns how many milliseconds after now the last question came that was told otherwise */
async function toldActiveFor(reader: Reader, token: string): Promise<number> {
  const begin = performance.now();
  for (let last = 0; ; ) {
    const asked = performance.now() - begin;
    if (!(await isActive(reader, token))) return last;
    last = asked;
  }
}

/** How a standby falls behind without its noticing, and what ends that. */
const WAYS_TO_LAG: readonly [string, (host: Host) => unknown, (host: Host) => unknown][] = [
  [
    'no longer replays',
    (host) => host.run('select pg_wal_replay_pause()'),
    (host) => host.run('select pg_wal_replay_resume()'),
  ],
  ['is cut off from the primary', (host) => host.link?.cut(), (host) => host.link?.mend()],
];

describe('strict: no answer is older than its question', () => {
  it('a token revoked on one server is refused by the next question to another, and an issued one known', async () => {
    const [writer, reader] = [await startReader(0), await startReader(0)];
    const [tokens, codes] = [await some('token', ROUNDS), await some('code', ROUNDS)];
    const wrong: string[] = [];
    await Promise.all([
      each(tokens, async (token) => {
        if (!(await isActive(reader, token))) wrong.push('not active before');
        await revoke(writer, token);
        if (await isActive(reader, token)) wrong.push('active after its revocation');
      }),
      each(codes, async (code) => {
        if (!(await isActive(reader, await exchange(writer, code))))
          wrong.push('not active after its exchange');
      }),
    ]);
    expect(wrong).toEqual([]);
    expect(reader.asked()).toBeLessThan(ROUNDS / 2); // of the statements; nearly all of them were standbys'
  });

  it('a blocked user, application and resource server are refused by the next question', async () => {
    const reader = await startReader(0);
    const [token = ''] = await some('token', 1);
    for (const [table, key, id] of [
      ['users', 'user_id', user.userId],
      ['clients', 'client_id', client.clientId],
    ]) {
      for (const status of ['blocked', 'active', 'blocked', 'active']) {
        await pool.query(`update ${table} set status = $1 where ${key} = $2`, [status, id]);
        expect(await isActive(reader, token)).toBe(status === 'active');
      }
    }
  });

  it.each(WAYS_TO_LAG)(
    'a revoked token is never told as good by a standby that %s',
    async (_, begin, end) => {
      const reader = await startReader(0);
      const tokens = await some('token', 2 * AT_ONCE);
      await replication.caughtUp();
      await Promise.all([a, b].map(begin));
      try {
        await each(tokens, async (token) => {
          await revoke(reader, token);
          expect(await isActive(reader, token)).toBe(false);
        });
      } finally {
        await Promise.all([a, b].map(end));
      }
      await expect.poll(() => reader.standbys.inUse).toBe(2);
    },
  );

  it('a revoked token is not told as good by a standby that catches up while it is asked', async () => {
    const reader = await startReader(0);
    const tokens = await some('token', 20);
    const both = (what: string) =>
      Promise.all([a, b].map((host) => host.run(`select pg_wal_replay_${what}()`)));
    for (const token of tokens) {
      await vi.waitUntil(() => reader.standbys.inUse === 2, { timeout: 20_000, interval: 10 });
      await both('pause');
      await revoke(reader, token);
      const [active] = await Promise.all([isActive(reader, token), both('resume')]);
      expect(active).toBe(false);
    }
  });

  it('a standby answers also where the primary has flushed half a record and goes on with nothing', async () => {
    const reader = await startReader(0);
    const [token = ''] = await some('token', 1);
    await pool.query(
      `create table if not exists idle as select n, repeat('x', 700) as t from generate_series(1, 3000) n`,
    );
    await pool.query('checkpoint');
    await replication.caughtUp();
    // With checksums, which are on, a first read writes pages to the WAL, and whole pages of it are flushed.
    const atEdge = `pg_current_wal_flush_lsn() <> pg_current_wal_insert_lsn() and (pg_current_wal_flush_lsn() - '0/0') % 8192 = 0`;
    await pool.query('select count(*) from idle');
    await vi
      .waitUntil(async () => (await pool.query(`select ${atEdge} as is`)).rows[0].is, {
        timeout: 2_000,
        interval: 1,
      })
      .catch(() => {});
    expect(await isActive(reader, token)).toBe(true);
    expect(reader.asked()).toBe(0);
    await pool.query('drop table idle');
  });

  it('the first use of the day is noted, on the primary', async () => {
    const reader = await startReader(0);
    const [token = ''] = await some('token', 1);
    expect(await isActive(reader, token)).toBe(true);
    const used = `select from grants where token_hash = sha256($1) and last_used_on is not null`;
    await expect.poll(async () => (await pool.query(used, [token])).rowCount).toBe(1);
  });
});

describe('with a lag that may be', () => {
  it('the primary is asked for no token that a standby knows', async () => {
    const reader = await startReader(LAG_MS);
    const tokens = await some('token', ROUNDS);
    await replication.caughtUp();
    await each(tokens, async (token) => expect(await isActive(reader, token)).toBe(true));
    expect(reader.asked()).toBe(0);
  });

  it('a token is known at once, also where no standby has it yet', async () => {
    const [writer, reader] = [await startReader(LAG_MS), await startReader(LAG_MS)];
    const [known = ''] = await some('token', 1);
    const codes = await some('code', ROUNDS);
    await replication.caughtUp();
    await Promise.all([a, b].map((host) => host.run('select pg_wal_replay_pause()')));
    try {
      expect(await isActive(reader, known)).toBe(true);
      expect(reader.asked()).toBe(0);
      await each(codes, async (code) =>
        expect(await isActive(reader, await exchange(writer, code))).toBe(true),
      );
    } finally {
      await Promise.all([a, b].map((host) => host.run('select pg_wal_replay_resume()')));
    }
  });

  it.each(WAYS_TO_LAG)(
    'a revoked token is told as good for no longer than that by a standby that %s',
    async (_, begin, end) => {
      const reader = await startReader(LAG_MS);
      const [token = ''] = await some('token', 1);
      await replication.caughtUp();
      await Promise.all([a, b].map(begin));
      try {
        await revoke(reader, token);
        const told = await toldActiveFor(reader, token);
        expect(told).toBeGreaterThan(0); // it was a standby that said so
        expect(told).toBeLessThan(LAG_MS);
        // Which of them was asked last is chance.
        await expect.poll(async () => (await isActive(reader, token)) || reader.standbys.inUse).toBe(0);
      } finally {
        await Promise.all([a, b].map(end));
      }
      await expect.poll(() => reader.standbys.inUse).toBe(2);
    },
  );

  it('questions are answered while the primary is away', async () => {
    const reader = await startReader(600_000);
    const [token = ''] = await some('token', 1);
    await replication.caughtUp();
    await replication.primary.stop();
    try {
      expect(await isActive(reader, token)).toBe(true);
    } finally {
      await replication.primary.start();
    }
    await replication.caughtUp();
  });
});

describe('a standby that is lost costs no answer, and two lines of the log', () => {
  it.each<[string, (host: Host) => unknown, (host: Host) => unknown]>([
    ['stopped', (host) => host.stop(), (host) => host.start()],
    ['killed', (host) => host.stop('SIGQUIT'), (host) => host.start()],
    ['frozen', (host) => host.freeze(), (host) => host.thaw()],
  ])('%s', async (_, begin, end) => {
    const reader = await startReader(0);
    const tokens = await some('token', 2 * AT_ONCE);
    await begin(a);
    try {
      await each(tokens, async (token) => {
        expect(await isActive(reader, token)).toBe(true);
        await revoke(reader, token);
        expect(await isActive(reader, token)).toBe(false);
      });
      await expect.poll(() => reader.log.map(({ message }) => message)).toContain('a standby is away');
      expect((await fetch(`${reader.server.baseUrl}/health/ready`)).status).toBe(200);
    } finally {
      await end(a);
    }
    await expect.poll(() => reader.standbys.inUse).toBe(2);
    expect(reader.log.map(({ message }) => message)).toContain('a standby is back');
  });
});

describe('remote_apply, where nothing else is asked for', () => {
  const variables = () => ({
    ...onDatabase(replication.primary.url()),
    DATABASE_READ_URL: replication.readUrl,
  });
  const BASE_URL = 'http://localhost:9';
  const doctor = async (more = {}) => {
    const { stdout } = await runAssent(['doctor', '--json'], { ...variables(), BASE_URL, ...more });
    const findings = JSON.parse(stdout) as { check: string; level: string; text: string }[];
    return findings.filter(({ check }) => check === 'standby').map(({ level, text }) => `${level}: ${text}`);
  };
  const setNames = async (names: string) => {
    await replication.primary.run(`alter system set synchronous_standby_names = '${names}'`);
    await replication.primary.run('select pg_reload_conf()');
  };

  afterAll(() => setNames(''));

  it('is set by servers and commands, so that what is done has been replayed by each standby that is named', async () => {
    await setNames('ANY 2 (a, b)');
    const server = await spawnServer(variables());
    await b.run('select pg_wal_replay_pause()');
    try {
      const [token = '', other = ''] = await some('token', 2); // with a `synchronous_commit` that does not wait
      const { clientId, clientSecret } = client;
      const body = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret ?? '' });
      const answer = fetch(`${server.baseUrl}/oauth/revoke`, { method: 'POST', body });
      const [grant] = (await pool.query('select grant_id from grants where token_hash = sha256($1)', [other]))
        .rows;
      const command = runAssent(['grant', 'revoke', grant.grant_id], variables());
      const waiting = `(select count(*)::int from pg_stat_activity where wait_event = 'SyncRep')`;
      await expect.poll(() => replication.primary.value(waiting)).toBe(2);
      await b.run('select pg_wal_replay_resume()');
      expect((await answer).status).toBe(200);
      expect((await command).code).toBe(0);
    } finally {
      await b.run('select pg_wal_replay_resume()');
      await server.stop();
    }
  });

  it('is looked at by doctor, and so is each standby', async () => {
    const can = [a, b].map(({ folder }) => `ok: the standby ${folder}:5432 can answer for this primary`);
    const waits = [a, b].map(({ folder }) => `ok: every commit waits until ${folder}:5432 has replayed it`);
    await setNames('FIRST 2 (a, b)');
    expect(await doctor()).toEqual([...can, ...waits]);
    expect(await doctor({ READ_LAG_MS: '1000' })).toEqual(can);
    await setNames('ANY 1 (a, b)');
    const found = await doctor();
    expect(found.slice(2)).toEqual([
      expect.stringMatching(/^advice: commits don't wait .* by which a commit may go on without a$/),
      expect.stringMatching(/^advice: commits don't wait .* by which a commit may go on without b$/),
    ]);
    const asServer = await doctor({
      DATABASE_URL: replication.primary.url('postgres', ROLE),
      DATABASE_READ_URL: a.url('postgres', ROLE),
    });
    expect(asServer).toEqual([
      can[0],
      expect.stringMatching(/this role may not see under which name it follows$/),
    ]);
    const [none] = await doctor({ DATABASE_READ_URL: replication.primary.url() });
    expect(none).toMatch(/^error: the standby .* is not asked: it is no standby/);
  });
});

describe('a standby that was promoted', () => {
  it('answers nothing; and neither does one that stays with the old primary, for servers of the new one', async () => {
    const [reader, other] = [await startReader(0), await startReader(LAG_MS)];
    const tokens = await some('token', AT_ONCE);
    await replication.caughtUp();
    await a.run('select pg_promote()');
    await each(tokens, async (token) => {
      await revoke(reader, token);
      expect(await isActive(reader, token)).toBe(false);
    });
    const isPromoted = { reason: 'it is no standby: it was promoted, or never was one' };
    const reasons = async (asked: Reader) => {
      await isActive(asked, tokens[0] ?? '');
      return asked.standbys.inUse === 1 && asked.log;
    };
    await expect.poll(() => reasons(reader)).toContainEqual(expect.objectContaining(isPromoted));
    await expect.poll(() => reasons(other)).toContainEqual(expect.objectContaining(isPromoted));
    // The old one goes on, and gets ahead of the new one.
    await pool.query('create table work as select generate_series(1, 100000) as n');
    const late = await startReader(0, a, [b]);
    const promoted = openDatabase(a.url());
    const [token = ''] = await issue(promoted, 'token', 1, { client, user });
    await promoted.end();
    await revoke(late, token);
    expect(await isActive(late, token)).toBe(false);
    const isElsewhere = { reason: 'it follows timeline 1, and the primary is on 2' };
    await expect.poll(() => late.log).toContainEqual(expect.objectContaining(isElsewhere));
    expect(late.standbys.inUse).toBe(0);
  });
});
