import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { deriveGrantId } from '../../src/secrets/tokens.ts';
import { transaction } from '../../src/store/database/database.ts';
import { ownDatabase, useDatabase } from '../support/postgres/database.ts';
import { waitForLocks } from '../support/postgres/locks.ts';
import { commandsOf } from '../support/process/commands.ts';
import { fileIn, useFolder } from '../support/process/folder.ts';
import { ASSENT, Launch, peakMemory } from '../support/process/launch.ts';
import { onDatabase } from '../support/process/process.ts';

const database = await useDatabase();
const { json } = commandsOf(database);
const folder = useFolder();

const fileOf = (rows: readonly object[]) =>
  fileIn(folder, randomUUID(), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));

it('an import that is killed and run again imports each line once', async () => {
  const own = await ownDatabase();
  const counts = async () => {
    const text = `select (select count(*)::int from users) as users,
      (select count(*)::int from audit_events where kind = 'user_imported') as events`;
    return (await own.pool.query<{ users: number; events: number }>(text)).rows[0];
  };
  const rows = Array.from({ length: 30_000 }, (_, n) => ({ login: `user-${n}`, name: 'Anna' }));
  const file = fileOf(rows);
  const launch = new Launch([...ASSENT, 'user', 'import', file], onDatabase(own.url));
  await expect.poll(async () => (await counts())?.users, { interval: 5 }).toBeGreaterThan(0);
  process.kill(launch.pid, 'SIGKILL');
  await launch.end;
  const busy = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`;
  await expect.poll(async () => (await own.pool.query(busy)).rowCount).toBe(0);
  const before = await counts();
  expect(before?.users).toBeLessThan(rows.length);
  expect(before?.users).toBe(before?.events);
  const imported = rows.length - (before?.users ?? 0);
  const again = await commandsOf(own).json(`user import ${file}`);
  expect(again).toMatchObject({ lines: rows.length, imported, unchanged: before?.users, bad: 0 });
  expect(await counts()).toEqual({ users: rows.length, events: rows.length });
});

it('an import waits for a concurrent approval of the same authorization, keeping the approval', async () => {
  await json(`user import ${fileOf([{ login: 'anna', name: 'Anna' }])}`);
  const shop = { client_id: 'shop', name: 'Shop', redirect_uri: 'https://s.example/' };
  await json(`client import ${fileOf([shop])}`);
  const { rows } = await database.pool.query<{ user_id: string }>('select user_id from users');
  const userId = rows[0]?.user_id ?? '';
  const tokens = ['first', 'second'].map((instance_name) => ({
    ...{ login: 'anna', client_id: 'shop', instance_name, scope: 'account-info' },
    ...{ token: randomUUID(), issued_at: '2026-01-01T00:00:00Z' },
  }));
  const { importing } = await transaction(database.pool, async (approving) => {
    await approving.query(
      `insert into grants (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)
       values ($1, $2, 'shop', 'second', 1, 'account-info', 'u:', sha256('code'), now() + interval '50 s', now())`,
      [deriveGrantId(userId, 'shop', 'second'), userId],
    );
    const importing = json(`grant import ${fileOf(tokens)}`);
    await waitForLocks(database.pool, 1);
    return { importing };
  });
  expect(await importing).toMatchObject({ imported: 1, skipped: 1 });
  const found = await database.pool.query(
    `select token_hash, code_hash = sha256('code') as is_code from grants where instance_name = 'second'`,
  );
  expect(found.rows).toEqual([{ token_hash: null, is_code: true }]);
});

it.runIf(process.platform === 'linux')('an import of many or endless lines uses little memory', async () => {
  const own = await ownDatabase();
  const line = (_: unknown, n: number) =>
    `${JSON.stringify({ login: `user-${n}`, name: 'Анна' }).padEnd(n < 100_000 ? 0 : 65_000)}\n`;
  const lines = Array.from({ length: 103_000 }, line).join('');
  const file = fileIn(folder, 'long', lines + 'x'.repeat(100_000_000));
  const launch = new Launch([...ASSENT, 'user', 'import', file, '--json'], onDatabase(own.url));
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, peakMemory(launch.pid));
  }, 10);
  expect(await launch.end).toEqual({ code: 1, signal: null });
  expect(launch.output()).toContain('is longer than 64 KB');
  clearInterval(looking);
  expect(most).toBeGreaterThan(50_000);
  // The file has 300 MB. Node 26 takes 158 here, Node 20 117.
  expect(most).toBeLessThan(200_000);
});
