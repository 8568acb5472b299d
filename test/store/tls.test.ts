import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { CLEAN_ENVIRONMENT, findBinaries, makeBinariesAccessible } from '../../src/trial/postgres/cluster.ts';
import { findClusterFolder } from '../../src/trial/postgres/clusterFolder.ts';
import { readPostmaster } from '../../src/trial/postgres/postmaster.ts';
import { ownPool } from '../support/postgres/database.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { makeDataDir } from '../support/process/folder.ts';
import { onDatabase, runAssent } from '../support/process/process.ts';
import { PATIENCE, startProgram, versionOf } from '../support/process/program.ts';
import { makeCertificate } from '../support/programs/certificates.ts';
import { freePort } from '../support/server.ts';

const PASSWORD = 'a password';
/** The program that makes certificates. */
const hasOpenssl = versionOf(['openssl', 'version']) !== undefined;
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
    ['sslmode=require, without verification', `${WITH_PASSWORD}@127.0.0.1`, { sslmode: 'require' }],
    ['verify-full, with a private CA', `${WITH_PASSWORD}@localhost`, OWN],
    ['verify-ca, with another host name', `${WITH_PASSWORD}@127.0.0.1`, { ...OWN, sslmode: 'verify-ca' }],
    ['a client certificate instead of a password', 'assent@localhost', { ...OWN, ...CERTIFICATE }],
  ])('connects: %s', async (_what, address, parameters) => {
    const pool = ownPool(urlOf(address, parameters));
    const { rows } = await pool.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true }]);
  });

  it.each([
    ['an untrusted CA', `${WITH_PASSWORD}@localhost`, { sslmode: 'verify-full' }, /sslrootcert/],
    ['verify-full, with another host name', `${WITH_PASSWORD}@127.0.0.1`, OWN, /verify-ca/],
    ['no TLS where it is required', `${WITH_PASSWORD}@127.0.0.1`, { sslmode: 'disable' }, /no encryption/],
  ])('reports a refusal in one line with a remedy: %s', async (_what, address, parameters, expected) => {
    const run = await runAssent(['client', 'list'], onDatabase(urlOf(address, parameters)));
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(/^[^\n]*while connecting to PostgreSQL[^\n]*\n$/);
    expect(run.stderr).toMatch(expected);
  });

  it('uses the system’s CAs for sslrootcert=system, and verifies the host name', async () => {
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

/** A PostgreSQL on 127.0.0.1 that speaks TLS, with a certificate for `localhost` by a CA that only these tests know. */
async function startTlsPostgres() {
  const dataDir = makeDataDir();
  const own = new OwnPostgres(dataDir);
  await own.start();
  await own.run(`create role with_password superuser login password '${PASSWORD}'`);
  await own.stop();
  // By TLS only: with the client's certificate, or else with a password.
  const rules = [
    'hostssl all with_password 127.0.0.1/32 scram-sha-256',
    'hostssl all all 127.0.0.1/32 cert clientcert=verify-full',
  ];
  writeFileSync(join(own.cluster, 'pg_hba.conf'), `${rules.join('\n')}\n`);
  const { folder: cluster, runAs } = findClusterFolder(dataDir);
  const folder = makeCertificates();
  // PostgreSQL refuses a key that another user owns.
  if (runAs.uid !== undefined) chownSync(join(folder, 'server.key'), runAs.uid, runAs.gid);
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ssl: 'on',
    ssl_cert_file: join(folder, 'server.crt'),
    ssl_key_file: join(folder, 'server.key'),
    ssl_ca_file: join(folder, 'ca.crt'),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const binaries = await makeBinariesAccessible(findBinaries(), runAs);
  const command = [join(binaries.folder, 'bin', 'postgres'), '-D', cluster, ...options];
  const postgres = await startProgram(command, port, { ...runAs, cwd: '/', env: CLEAN_ENVIRONMENT });
  await vi.waitUntil(() => readPostmaster(cluster)?.isReady, PATIENCE);
  return {
    port,
    // Files: the certificate to trust, and what the user `assent` can show instead of a password.
    ca: join(folder, 'ca.crt'),
    cert: join(folder, 'client.crt'),
    key: join(folder, 'client.key'),
    async stop() {
      await postgres.stop('SIGINT');
      rmSync(folder, { recursive: true });
      await own.remove();
    },
  };
}

/** Those of the server and of the client are signed by the CA. */
function makeCertificates(): string {
  const folder = makeDataDir();
  chmodSync(folder, 0o755);
  makeCertificate(folder, 'ca', 'a CA of the tests', 'keyUsage=keyCertSign');
  makeCertificate(folder, 'server', 'localhost', 'subjectAltName=DNS:localhost', 'ca');
  makeCertificate(folder, 'client', 'assent', 'extendedKeyUsage=clientAuth', 'ca');
  return folder;
}
