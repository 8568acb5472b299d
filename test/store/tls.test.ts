import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { hasOpenssl, PASSWORD, startTlsPostgres } from '../support/postgres/tlsPostgres.ts';
import { onDatabase, runAssent } from '../support/process/process.ts';

const postgres = hasOpenssl ? await startTlsPostgres() : null;
afterAll(() => postgres?.stop());

const WITH_PASSWORD = `with_password:${encodeURIComponent(PASSWORD)}`;

const OWN = { sslmode: 'verify-full', sslrootcert: postgres?.ca ?? '' };
const CERTIFICATE = { sslcert: postgres?.cert ?? '', sslkey: postgres?.key ?? '' };

/** @param address `user@host`; the certificate is for `localhost`, and not for `127.0.0.1` */
const urlOf = (address: string, parameters: Record<string, string>) =>
  `postgres://${address}:${postgres?.port}/postgres?${new URLSearchParams(parameters)}`;

const found = hasOpenssl ? '' : ' (openssl is not installed: skipped)';

describe.runIf(hasOpenssl)(`TLS to PostgreSQL works as in psql${found}`, () => {
  it.each([
    ['encrypted, nothing verified', `${WITH_PASSWORD}@127.0.0.1`, { sslmode: 'require' }],
    ['an own CA and the name', `${WITH_PASSWORD}@localhost`, OWN],
    ['an own CA under another name', `${WITH_PASSWORD}@127.0.0.1`, { ...OWN, sslmode: 'verify-ca' }],
    ['a certificate of our own instead of a password', 'assent@localhost', { ...OWN, ...CERTIFICATE }],
  ])('connects: %s', async (_what, address, parameters) => {
    const pool = openDatabase(urlOf(address, parameters));
    onTestFinished(() => pool.end());
    const { rows } = await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
  });

  it.each([
    ['a CA that is not trusted', `${WITH_PASSWORD}@localhost`, { sslmode: 'verify-full' }, /sslrootcert/],
    ['another name', `${WITH_PASSWORD}@127.0.0.1`, OWN, /verify-ca/],
    ['no TLS where it is wanted', `${WITH_PASSWORD}@127.0.0.1`, { sslmode: 'disable' }, /no encryption/],
  ])('is refused in one line with a remedy: %s', async (_what, address, parameters, expected) => {
    const run = await runAssent(['client', 'list'], onDatabase(urlOf(address, parameters)));
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(/^[^\n]*while connecting to PostgreSQL[^\n]*\n$/);
    expect(run.stderr).toMatch(expected);
  });

  it('uses the system’s CAs for sslrootcert=system, and verifies the name', async () => {
    const trusting = { NODE_EXTRA_CA_CERTS: OWN.sslrootcert };
    const connect = (host: string, trust: Record<string, string>) => {
      const database = onDatabase(urlOf(`${WITH_PASSWORD}@${host}`, { sslrootcert: 'system' }));
      return runAssent(['migrate', '--status'], { ...database, ...trust });
    };
    expect(await connect('localhost', trusting)).toMatchObject({ code: 0 });
    expect((await connect('localhost', {})).stderr).toMatch(/sslrootcert/);
    const elsewhere = await connect('127.0.0.1', trusting);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('verify-ca')]);
  });
});
