import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { vi } from 'vitest';
import {
  CLEAN_ENVIRONMENT,
  createCluster,
  findBinaries,
  openBinaries,
} from '../../../src/trial/postgres/cluster.ts';
import { findPlace } from '../../../src/trial/postgres/place.ts';
import { makeDataDir, removeDataDir } from '../process/folder.ts';
import { startProgram, versionOf } from '../process/program.ts';
import { makeCertificate } from '../programs/certificates.ts';
import { freePort } from '../server.ts';

/** Whether the program that makes certificates is installed. */
export const hasOpenssl = versionOf(['openssl', 'version']) !== undefined;

/** A PostgreSQL on 127.0.0.1 that speaks TLS, with a certificate for `localhost` by a CA that nobody else knows. */
export async function startTlsPostgres() {
  const dataDir = makeDataDir();
  const place = findPlace(dataDir);
  const binaries = await openBinaries(findBinaries(), place.runAs);
  const { signal: cancelled } = new AbortController();
  await createCluster({ place, binaries, cancelled, log: () => {} });
  const folder = makeCertificates(place.runAs.uid ?? userInfo().uid);
  // Over TCP only by TLS: by the client's certificate, or else by a password.
  const rules = ['hostssl all all 127.0.0.1/32 cert clientcert=verify-full', 'local all all trust'];
  const hba = join(folder, 'pg_hba.conf');
  writeFileSync(hba, `hostssl all with_password 127.0.0.1/32 scram-sha-256\n${rules.join('\n')}\n`, {
    mode: 0o644,
  });
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: place.cluster,
    hba_file: hba,
    ssl: 'on',
    ssl_cert_file: join(folder, 'server.crt'),
    ssl_key_file: join(folder, 'server.key'),
    ssl_ca_file: join(folder, 'ca.crt'),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [join(binaries.folder, 'bin', 'postgres'), '-D', place.cluster, ...options];
  const postgres = await startProgram(command, port, { ...place.runAs, cwd: '/', env: CLEAN_ENVIRONMENT });
  await createRole(place.cluster, port);
  return {
    port,
    // Files: the certificate to trust, and what the user `assent` can show instead of a password.
    ca: join(folder, 'ca.crt'),
    cert: join(folder, 'client.crt'),
    key: join(folder, 'client.key'),
    async stop() {
      await postgres.stop('SIGINT');
      rmSync(folder, { recursive: true });
      removeDataDir(dataDir);
    },
  };
}

export const PASSWORD = 'a password';

async function createRole(host: string, port: number): Promise<void> {
  const statement = `create role with_password superuser login password '${PASSWORD}'`;
  const create = async () => {
    const client = new pg.Client({ host, port, user: 'assent', database: 'postgres' });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await vi.waitFor(create, { timeout: 60_000, interval: 20 });
}

/** Each signed by the CA; PostgreSQL wants its own key to be nobody else's. */
function makeCertificates(owner: number): string {
  const folder = makeDataDir();
  chmodSync(folder, 0o755);
  makeCertificate(folder, 'ca', 'a CA of the tests', 'keyUsage=keyCertSign');
  makeCertificate(folder, 'server', 'localhost', 'subjectAltName=DNS:localhost', 'ca');
  makeCertificate(folder, 'client', 'assent', 'extendedKeyUsage=clientAuth', 'ca');
  if (process.getuid?.() === 0) chownSync(join(folder, 'server.key'), owner, -1 as number);
  return folder;
}
