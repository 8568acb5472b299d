import { afterAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { AddressError, parseAddresses } from '../../src/store/database/databaseUrl.ts';
import { findRow } from '../../src/store/database/query.ts';
import { OwnPostgres } from '../support/ownPostgres.ts';
import { onDatabase, runAssent } from '../support/process.ts';

const [first, second] = [new OwnPostgres(), new OwnPostgres()];
afterAll(() => Promise.all([first.remove(), second.remove()]));
await Promise.all([first.start(), second.start()]);
const hosts = [first, second].map(({ place }) => `${encodeURIComponent(place.host)}:${place.port}`);
const url = `postgres://assent@${hosts.join(',')}/postgres?target_session_attrs=read-write`;
await first.stop();
first.becomeStandby();
await first.start();

const findFolder = findRow<void, { folder: string }>(
  '',
  `select current_setting('unix_socket_directories') as folder`,
);

describe('an address with several hosts', () => {
  const pool = openDatabase(url);
  afterAll(() => pool.end());

  /** Which of the two a statement gets to. */
  async function reached(): Promise<string> {
    const { folder } = await findFolder(pool);
    return folder.replaceAll('"', '');
  }

  it('leads to the one that takes writes, for servers and commands', async () => {
    expect(await reached()).toBe(second.place.host);
    expect(await runAssent(['client', 'list'], onDatabase(url))).toMatchObject({ code: 0 });
  });

  it('says in one line when none of them does', async () => {
    await second.stop();
    const run = await runAssent(['client', 'list'], onDatabase(url));
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/^[^\n]+: while connecting to PostgreSQL: [^\n]+\n$/);
  });

  it('leads to the next one after a failover', async () => {
    await first.run('select pg_promote()');
    await vi.waitFor(async () => expect(await reached()).toBe(first.place.host), { timeout: 60_000 });
  });
});

describe('an address', () => {
  it.each([
    ['postgres://a:b@h/db', { host: 'h', user: 'a', password: 'b', database: 'db' }],
    ['postgresql://a@[::1]:5433/db', { host: '::1', port: 5433, user: 'a', database: 'db' }],
    ['postgres://a@/db?host=/run/postgresql', { host: '/run/postgresql', user: 'a', database: 'db' }],
    ['postgres://h/db?options=-c%20a%3Db', { host: 'h', database: 'db', options: '-c a=b' }],
    ['postgres://h/db?sslmode=disable', { host: 'h', database: 'db', ssl: false }],
    ['postgres://h/db?query_timeout=0&pipeline=no', { host: 'h', database: 'db' }],
    ['postgres://h/db?sslrootcert=system', { host: 'h', database: 'db', ssl: {} }],
    ['postgres://h/db?sslrootcert=system&sslmode=verify-full', { host: 'h', database: 'db', ssl: {} }],
  ])('is read: %s', (url, address) => {
    expect(parseAddresses(url)).toEqual([address]);
  });

  it.each([
    ['mysql://h/db', 'look like postgres://'],
    ['postgres://a:p/w@h/db', 'encoded as %XX'],
    ['postgres://h/db?sslmode=prefer', 'have as sslmode one of'],
    ['postgres://h,i/db?target_session_attrs=standby', 'have as target_session_attrs one of'],
    ['postgres://h/db?sslmode=verify-ca', 'have sslrootcert'],
    ['postgres://h/db?sslmode=require&sslrootcert=system', 'have sslmode=verify-full beside'],
    ['postgres://h/db?sslrootcert=system&sslmode=verify-ca', 'have sslmode=verify-full beside'],
    ['postgres://h/db?sslmode=verify-full&sslrootcert=/nowhere', 'name files that can be read: /nowhere'],
  ])('is refused with what it must be: %s', (url, message) => {
    expect(() => parseAddresses(url)).toThrow(AddressError);
    expect(() => parseAddresses(url)).toThrow(message);
  });
});
