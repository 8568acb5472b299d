import { chownSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { makeDataDir } from '../process/folder.ts';
import { PATH, startProgram, versionOf } from '../process/program.ts';
import { freePort } from '../server.ts';

/** The version of the PgBouncer that is installed, such as `1.18`; undefined where there is none. */
export const poolerVersion = versionOf(['pgbouncer', '--version'], /PgBouncer (\d+\.\d+)/);
const [major = 0, minor = 0] = poolerVersion?.split('.').map(Number) ?? [];

export const poolerKeepsNames = major > 1 || minor >= 21;

const NOBODY = { uid: 65_534, gid: 65_534 };

export type Pooler = Awaited<ReturnType<typeof startPooler>>;

/**
 * Starts a PgBouncer in front of the PostgreSQL of the tests, with fewer connections to it than a server opens where they can be
 * shared.
 */
export async function startPooler(mode: 'session' | 'transaction') {
  const { host, port, user, password } = new pg.Client(inject('postgres'));
  const folder = makeDataDir();
  const ownPort = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=${host} port=${port} user=${user} ${password ? `password='${password.replaceAll("'", "''")}'` : ''}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${mode === 'transaction' ? 3 : 30}
${poolerKeepsNames ? 'max_prepared_statements = 100' : ''}`,
  );
  // It refuses to run as root, and only PostgreSQL's own user may enter the folder of an embedded one's socket.
  const { uid, gid } = host.startsWith('/') ? statSync(host) : NOBODY;
  const runAs = process.getuid?.() === 0 ? { uid, gid } : {};
  if (process.getuid?.() === 0) for (const file of [folder, settings]) chownSync(file, uid, gid);
  const pooler = await startProgram(['pgbouncer', settings], ownPort, { ...runAs, env: { PATH } });
  return {
    url: (database: string) => `postgres://anybody@127.0.0.1:${ownPort}/${database}`,
    async stop() {
      await pooler.stop('SIGKILL'); // at once, despite connections
      rmSync(folder, { recursive: true });
    },
  };
}
