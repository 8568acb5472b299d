import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { transaction, withConnection } from '../../src/store/database/database.ts';
import { isDatabaseUnavailable } from '../../src/store/database/errors.ts';
import { queryPages } from '../../src/store/database/query.ts';
import { statement } from '../../src/store/database/statement.ts';
import { ownPool, useDatabase } from '../support/postgres/database.ts';
import { listen, outcomeOf } from '../support/process/program.ts';

const database = await useDatabase();
const { pool } = database;
const name = new URL(database.url).pathname.slice(1);

const meansAway = async (promise: Promise<unknown>) =>
  isDatabaseUnavailable(await promise.catch((error: unknown) => error));

it('an unreachable database is distinguished from a missing file', () => {
  expect(isDatabaseUnavailable(Object.assign(new Error(), { code: 'ENOENT', syscall: 'open' }))).toBe(false);
});

it('a connection overrides settings of URL and database that Assent relies on, and no others', async () => {
  await pool.query(`alter database ${name} set lock_timeout = '1h'`);
  const options = `-c datestyle=German -c plan_cache_mode=auto -c default_transaction_isolation=serializable
                 -c statement_timeout=1h -c search_path=public,pg_temp`;
  const address = new URL(database.url);
  address.searchParams.set('options', options.replaceAll(/\s+/g, ' '));
  const { rows } = await ownPool(address.href).query(`
    select name, setting from pg_settings
     where name = any ('{DateStyle,plan_cache_mode,transaction_isolation,statement_timeout,lock_timeout,search_path}')`);
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    DateStyle: 'ISO, DMY',
    plan_cache_mode: 'force_generic_plan',
    transaction_isolation: 'read committed',
    statement_timeout: '4000',
    lock_timeout: '2000',
    search_path: 'public,pg_temp',
  });
});

it('a connection closed during its start-up is reported as an unreachable database', async () => {
  const message = (type: string, body: string) =>
    `${type}\0\0\0${String.fromCharCode(4 + body.length)}${body}`;
  const [welcome, ready] = [message('R', '\0\0\0\0'), message('Z', 'I')];
  const farewell = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
  const postgres = createServer((socket) => {
    socket.once('data', () => socket.end(`${welcome}${ready}${farewell}`, 'latin1'));
  });
  onTestFinished(() => void postgres.close());
  const port = await listen(postgres);
  const opened = ownPool({ host: '127.0.0.1', port, user: 'assent', database: 'assent' });
  expect(await meansAway(withConnection(opened, (connection) => connection.query('select 1')))).toBe(true);
});

describe('a transaction', () => {
  it('is rolled back completely when it fails', async () => {
    const failed = transaction(pool, async (db) => {
      await db.query(`insert into resources (resource_id, name) values ('r', 'n')`);
      throw new Error('in the middle');
    });
    await expect(failed).rejects.toThrow('in the middle');
    expect((await pool.query('select from resources')).rowCount).toBe(0);
  });

  it('fails alone when its connection breaks between two statements', async () => {
    const cut = transaction(pool, async (db) => {
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
      const gone = new Promise((resolve) => db.once('end', resolve));
      await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await gone;
    });
    expect(await meansAway(cut)).toBe(true);
    expect((await pool.query('select 1')).rowCount).toBe(1);
  });
});

describe('a query read in pages', () => {
  const list = statement('', 'select n from generate_series(1, 1201) n')();

  it('leaves no transaction open, wherever reading stops', async () => {
    const opened = ownPool(database.url);
    for await (const _page of queryPages(opened, list)) break;
    const fail = async () => {
      for await (const _page of queryPages(opened, list)) throw new Error('in the middle');
    };
    await expect(fail()).rejects.toThrow('in the middle');
    for await (const _page of queryPages(opened, list));
    const open = `select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    await expect.poll(async () => (await pool.query(open)).rowCount).toBe(0);
  });
});

it('the rows of answered statements are collected as young objects, and don’t fill the old generation', async () => {
  const program = fileURLToPath(new URL('../support/programs/youngRows.mjs', import.meta.url));
  const { code, stdout, stderr } = await outcomeOf(
    spawn(process.execPath, ['--expose-gc', program, database.url]),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(Number(stdout) / 2 ** 20).toBeLessThan(10);
});

it('a statement accepts null as a value, but refuses a missing value', () => {
  const one = statement<{ a?: number | null }>('', 'select @a');
  expect(one({ a: null }).values).toEqual([null]);
  expect(() => one({})).toThrow('lacks a value for a');
});
