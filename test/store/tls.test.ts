import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { onDatabase, runAssent } from '../support/process.ts';
import { hasOpenssl, PASSWORD, startTlsPostgres, type TlsPostgres } from '../support/tlsPostgres.ts';

let postgres: TlsPostgres;

const WITH_PASSWORD = `with_password:${encodeURIComponent(PASSWORD)}`;

/** @param address `user@host`; the certificate is for `localhost`, and not for `127.0.0.1` */
const urlOf = (address: string, parameters: Record<string, string>) =>
  `postgres://${address}:${postgres.port}/postgres?${new URLSearchParams(parameters)}`;

const found = hasOpenssl ? '' : ' (openssl is not installed: skipped)';

describe.runIf(hasOpenssl)(`TLS to PostgreSQL means what it means to psql${found}`, () => {
  beforeAll(async () => {
    postgres = await startTlsPostgres();
  });

  afterAll(async () => {
    await postgres?.stop();
  });

  const own = () => ({ sslrootcert: postgres.ca });

  it.each<[what: string, address: string, parameters: () => Record<string, string>]>([
    ['encrypted, nothing verified', `${WITH_PASSWORD}@127.0.0.1`, () => ({ sslmode: 'require' })],
    ['an own CA and the name', `${WITH_PASSWORD}@localhost`, () => ({ sslmode: 'verify-full', ...own() })],
    [
      'an own CA under another name',
      `${WITH_PASSWORD}@127.0.0.1`,
      () => ({ sslmode: 'verify-ca', ...own() }),
    ],
    [
      'a certificate of our own instead of a password',
      'assent@localhost',
      () => ({ sslmode: 'verify-full', ...own(), sslcert: postgres.cert, sslkey: postgres.key }),
    ],
  ])('connects: %s', async (_what, address, parameters) => {
    const pool = openDatabase(urlOf(address, parameters()));
    try {
      const { rows } = await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      expect(rows).toEqual([{ ssl: true }]);
    } finally {
      await pool.end();
    }
  });

  it.each<[what: string, address: string, parameters: () => Record<string, string>, expected: RegExp]>([
    [
      'a CA that is not trusted',
      `${WITH_PASSWORD}@localhost`,
      () => ({ sslmode: 'verify-full' }),
      /sslrootcert/,
    ],
    ['another name', `${WITH_PASSWORD}@127.0.0.1`, () => ({ sslmode: 'verify-full', ...own() }), /verify-ca/],
    [
      'no TLS where it is wanted',
      `${WITH_PASSWORD}@127.0.0.1`,
      () => ({ sslmode: 'disable' }),
      /no encryption/,
    ],
  ])('is refused in one line that says what to do: %s', async (_what, address, parameters, expected) => {
    const run = await runAssent(['client', 'list'], onDatabase(urlOf(address, parameters())));
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(/^[^\n]*while connecting to PostgreSQL[^\n]*\n$/);
    expect(run.stderr).toMatch(expected);
  });

  it('takes the CAs that everybody trusts for sslrootcert=system, and verifies the name', async () => {
    const system = (address: string) =>
      onDatabase(urlOf(`${WITH_PASSWORD}@${address}`, { sslrootcert: 'system' }));
    const list = (variables: Record<string, string>) => runAssent(['client', 'list'], variables);
    expect(await list({ ...system('localhost'), NODE_EXTRA_CA_CERTS: postgres.ca })).toMatchObject({
      code: 0,
    });
    expect((await list(system('localhost'))).stderr).toMatch(/sslrootcert/);
    const elsewhere = await list({ ...system('127.0.0.1'), NODE_EXTRA_CA_CERTS: postgres.ca });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('verify-ca')]);
  });
});
