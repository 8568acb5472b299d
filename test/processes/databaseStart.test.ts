import { constants } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { ownDatabase } from '../support/postgres/database.ts';
import { whileHeld } from '../support/postgres/locks.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, ownServer, type ServerProcess, spawnServer } from '../support/process/process.ts';

// Servers start before their database is reachable, on a real PostgreSQL that stops, starts or refuses them.

const postgres = new OwnPostgres();

afterAll(() => postgres.remove());
await postgres.start();
await postgres.admit('local all passwordKind scram-sha-256');
await postgres.run('create role passwordKind login', 'create database early');

const begin = (url: string) => ownServer({ ...onDatabase(url), LOG_LEVEL: 'info' }, 'live');

async function beginWithout(...of: Parameters<typeof postgres.url>): Promise<ServerProcess> {
  const url = postgres.url(...of);
  await postgres.stop();
  return begin(url);
}

const statusOf = async ({ baseUrl }: ServerProcess, path: string) => (await fetch(baseUrl + path)).status;
const ready = (server: ServerProcess) => statusOf(server, '/health/ready');
const knock = (server: ServerProcess) => statusOf(server, '/oauth/authorize?client_id=x');

describe('a server that starts while its database is unreachable', () => {
  it('is live but not ready, answers 503, and serves once the database is reachable', async () => {
    const server = await beginWithout('early');
    expect([await statusOf(server, '/health/live'), await ready(server)]).toEqual([200, 503]);
    expect(await knock(server)).toBe(503);
    const rule = `"rule":"the database can't be reached (ENOENT)"`;
    await expect.poll(() => server.output()).toContain(rule);
    await postgres.start();
    await expect.poll(() => ready(server)).toBe(200);
    expect(await knock(server)).toBe(400);
    const lines = server.output().trimEnd().split('\n');
    const news = lines.map((line) => JSON.parse(line).msg as string).filter((msg) => msg !== 'request');
    expect(news).toEqual([
      expect.stringMatching(/^listening at /),
      'the database is unreachable', // once
      expect.stringMatching(/^migrated the schema from version 0 to \d+$/),
      'the database is reachable again',
    ]);
    expect(await server.stop()).toBe(0);
  });

  it('ends at once on a signal', async () => {
    const server = await beginWithout('early');
    await expect.poll(() => server.output()).toContain('the database is unreachable');
    expect(await server.stop()).toBe(128 + constants.signals.SIGTERM);
    await postgres.start();
  });

  it('exits with 1 if the database, once reachable, refuses its password', async () => {
    const server = await beginWithout('postgres', 'passwordKind:a-wrong-password');
    await expect.poll(() => server.output()).toContain('the database is unreachable');
    await postgres.start();
    await expect.poll(() => server.isRunning()).toBe(false);
    expect(await server.stop()).toBe(1);
    expect(server.output()).toMatch(/^PostgreSQL refuses the password: .+ DATABASE_URL \(.+\)$/m);
  });
});

it('a server during long migrations is live, answers 503, and does not report the database unreachable', async () => {
  const database = await ownDatabase();
  const server = await whileHeld(database.pool, 'select pg_advisory_xact_lock(7274825)', [], async () => {
    const waiting = await begin(database.url);
    expect([await ready(waiting), await knock(waiting)]).toEqual([503, 503]);
    return waiting;
  });
  await expect.poll(() => ready(server)).toBe(200);
  expect(server.output()).toContain('its schema is being migrated');
  expect(server.output()).not.toContain('the database is unreachable');
});

it('a build older than the schema serves and runs commands if compatible, with a warning, and else refuses', async () => {
  const database = await ownDatabase();
  const add = (after: number, oldest: number) =>
    database.pool.query(
      `insert into schema_migrations (version, name, oldest_build)
       select max(version) + 1, 'later', max(version) + 1 - $1::int + $2::int from schema_migrations`,
      [after, oldest],
    );
  const { assent, refused } = commandsOn({ ...onDatabase(database.url), BASE_URL: 'https://pay.invalid' });
  await add(1, 0);
  const server = await begin(database.url);
  await expect.poll(() => ready(server)).toBe(200);
  const supported = `schema version \\d+, this build's is \\d+; this build supports the newer one`;
  expect(server.output()).toMatch(new RegExp(supported));
  expect((await assent('doctor')).stdout).toMatch(new RegExp(`^advice +${supported}`, 'm'));
  expect(await refused('migrate --server-role someone', 1)).toContain(
    'newer than this build: grant someone its privileges with the newer build',
  );
  expect((await assent('user list')).stderr).toMatch(new RegExp(`^${supported}\nno users\n$`));
  await add(2, 1);
  const sentence = 'this build does not support the newer one: run a newer build';
  await expect(spawnServer(onDatabase(database.url))).rejects.toThrow(sentence);
  expect(await refused('user list', 1)).toContain(sentence);
});
