import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { AddressError, parseAddresses } from '../../src/store/database/databaseUrl.ts';
import { findExactlyOne, queryLong } from '../../src/store/database/query.ts';
import { signal } from '../faults/faults/make.ts';
import { tokenRequestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { documentOf } from '../support/http/tokenRequests.ts';
import { ownPool } from '../support/postgres/database.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase, runAssent, spawnServer } from '../support/process/process.ts';
import { PATIENCE } from '../support/process/program.ts';

const nodes = [new OwnPostgres(), new OwnPostgres(), new OwnPostgres()] as const;
const [first, second, third] = nodes;
afterAll(() => Promise.all(nodes.map((node) => node.remove())));
await Promise.all(nodes.map((node) => node.start()));
const url = `${urlOf('assent', first, second)}?target_session_attrs=read-write`;
await first.stop();
first.becomeStandby();
await first.start();

function urlOf(role: string, ...hosts: OwnPostgres[]): string {
  const places = hosts.map(({ place }) => `${encodeURIComponent(place.host)}:${place.port}`);
  return `postgres://${role}@${places.join(',')}/postgres`;
}

const findFolder = findExactlyOne<void, { folder: string }>('')`
  select current_setting('unix_socket_directories') as folder`;

/** The one that a statement gets to. */
async function reached(pool: pg.Pool): Promise<OwnPostgres | undefined> {
  const { folder } = await findFolder(pool);
  return nodes.find(({ place }) => place.host === folder.replaceAll('"', ''));
}

describe('a database URL with several hosts', () => {
  const pool = openDatabase(url);
  afterAll(() => pool.end());

  it('connects servers and commands to the host that accepts writes', async () => {
    expect(await reached(pool)).toBe(second);
    expect(await runAssent(['migrate', '--status'], onDatabase(url))).toMatchObject({ code: 0 });
  });

  it('reports in one line when no host accepts writes', async () => {
    await second.stop();
    const run = await runAssent(['migrate', '--status'], onDatabase(url));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^[^\n]+: while connecting to PostgreSQL: [^\n]+\n$/);
  });

  it('connects to the new primary after a failover', async () => {
    await first.run('select pg_promote()');
    await vi.waitFor(async () => expect(await reached(pool)).toBe(first), PATIENCE);
  });
});

const SLEEP = { name: '', text: 'select pg_sleep(600)' };
const SLEEPING = `from pg_stat_activity where query = '${SLEEP.text}'`;

describe('a primary with a standby', () => {
  /** `third` follows `first`; `second` is a primary of another system. All know a role with the rights of a server. */
  beforeAll(async () => {
    await first.run('create role server login');
    await runAssent(['migrate', '--server-role', 'server'], onDatabase(first.url()));
    await Promise.all([first.stop(), third.stop()]);
    third.follow(first);
    await Promise.all([first.start(), second.start(), third.start()]);
    await second.run('create role server login');
    for (const host of [first, second]) await host.run('grant pg_read_all_settings to server'); // for `reached`
  }, PATIENCE.timeout);

  const open = (...hosts: OwnPostgres[]) => ownPool(urlOf('server', ...hosts));

  /** The connections of that role: the last statement of each, and its start. */
  async function sessions(host: OwnPostgres): Promise<{ since: Date; query: string }[]> {
    const list = `select query_start as since, query from pg_stat_activity where usename = 'server'`;
    return withClient(host.url(), async (client) => (await client.query(list)).rows);
  }

  /** Waits until each of these was asked twice: by then its first answer has had its effect. */
  async function areAsked(hosts: readonly OwnPostgres[]): Promise<void> {
    for (const host of [...hosts, ...hosts]) {
      const since = Date.now();
      const isNew = async () => (await sessions(host)).some((one) => one.since.getTime() > since);
      await vi.waitUntil(isNew, PATIENCE);
    }
  }

  it('is used while its standby is frozen', async () => {
    const frozen = third.family();
    signal(frozen, 'SIGSTOP');
    onTestFinished(() => signal(frozen, 'SIGCONT'));
    expect(await reached(open(third, first))).toBe(first);
  });

  it('is not replaced by a primary of another cluster, even with a later timeline', async () => {
    // The first was promoted above, so that its timeline is greater.
    for (const hosts of [[second, first] as const, [first, second] as const]) {
      const pool = open(...hosts);
      expect(await reached(pool)).toBe(hosts[0]);
      await areAsked(hosts);
      expect(await reached(pool)).toBe(hosts[0]);
    }
  });

  it('is replaced by a promoted standby, for running statements, servers and commands, even if not down', async () => {
    const on = (...hosts: OwnPostgres[]) =>
      commandsOn({ ...onDatabase(urlOf('assent', ...hosts)), BASE_URL: 'http://localhost' });
    const redirectUri = 'https://shop.example/callback';
    const create = `client create --name Shop --redirect-uri ${redirectUri}`;
    const { client_id: clientId = '' } = await on(first).json(create);
    const server = await spawnServer(onDatabase(urlOf('server', first, third)));
    onTestFinished(async () => void (await server.stop()));
    /** The server's answer to a code that was never issued, after it has looked at the client. */
    const exchange = async () => {
      const request = tokenRequestOf({ clientId, clientSecret: null, redirectUri }, 'x');
      return documentOf(await new Agent(server.baseUrl).post('/oauth/token', request)).error;
    };
    expect(await exchange()).toBe('invalid_grant');
    const frozen = second.family();
    signal(frozen, 'SIGSTOP');
    onTestFinished(() => signal(frozen, 'SIGCONT'));
    const pool = open(first, second, third);
    expect(await reached(pool)).toBe(first);
    const underWay = expect(queryLong(pool, SLEEP)).rejects.toMatchObject({ code: '08OLD' });

    onTestFinished(() => first.run(`select pg_terminate_backend(pid) ${SLEEPING}`)); // PostgreSQL itself goes on with it

    await third.run('select pg_promote()');
    await vi.waitFor(async () => expect(await reached(pool)).toBe(third), PATIENCE);
    await underWay;
    await on(third).assent(`client block ${clientId}`);
    await vi.waitFor(async () => expect(await exchange()).toBe('unauthorized_client'), PATIENCE);
    await vi.waitUntil(() => server.output().includes('has taken over from'), PATIENCE);
    expect(server.output().match(/another PostgreSQL has taken over/g)).toHaveLength(1);
    expect(await on(first, third).json('client list')).toMatchObject([{ status: 'blocked' }]);
    expect(await on(first).json('client list')).toMatchObject([{ status: 'active' }]);
  });

  it('is not used again while the promoted standby is unreachable', async () => {
    const pool = open(first, third);
    expect(await reached(pool)).toBe(third);
    await third.stop();
    await expect(reached(pool)).rejects.toThrow(third.place.host);
    await first.run('create table still_written ()');
    await third.start();
    await vi.waitFor(async () => expect(await reached(pool)).toBe(third), PATIENCE);
  });
});

describe('a database URL', () => {
  it.each([
    ['postgres://a:b@h/db', { host: 'h', user: 'a', password: 'b', database: 'db' }],
    ['postgresql://a@[::1]:5433/db', { host: '::1', port: 5433, user: 'a', database: 'db' }],
    ['postgres://a@/db?host=/run/postgresql', { host: '/run/postgresql', user: 'a', database: 'db' }],
    ['postgres://h/db?query_timeout=0&pipeline=no', { host: 'h', database: 'db' }],
    ['postgres://h/db?sslrootcert=system&sslmode=verify-full', { host: 'h', database: 'db', ssl: {} }],
  ])('is parsed: %s', (url, address) => {
    expect(parseAddresses(url)).toEqual([address]);
  });

  it.each([
    ['mysql://h/db', 'look like postgres://'],
    ['postgres://a:p/w@h/db', 'encoded as %XX'],
    ['postgres://h/db?sslmode=prefer', 'set sslmode to one of'],
    ['postgres://h,i/db?target_session_attrs=standby', 'set target_session_attrs to one of'],
    ['postgres://h/db?sslmode=verify-ca', 'have sslrootcert'],
    ['postgres://h/db?sslmode=require&sslrootcert=system', 'have sslmode=verify-full with'],
    ['postgres://h/db?sslrootcert=system&sslmode=verify-ca', 'have sslmode=verify-full with'],
    ['postgres://h/db?sslmode=verify-full&sslrootcert=/nowhere', 'name readable files: /nowhere'],
  ])('is refused with a message about the required form: %s', (url, message) => {
    expect(() => parseAddresses(url)).toThrow(AddressError);
    expect(() => parseAddresses(url)).toThrow(message);
  });
});
