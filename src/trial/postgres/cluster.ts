import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Binaries, CLEAN_ENVIRONMENT } from './binaries.ts';
import type { Place } from './place.ts';
import { makeFolder } from './readOrMake.ts';

export interface Cluster {
  readonly place: Place;
  readonly binaries: Binaries;
  readonly log: (line: string) => void;
  /** Aborted when the process leaves, even while joining. */
  readonly cancelled: AbortSignal;
  started?: ChildProcess;
}

/** The cluster's superuser, for its sessions and for commands; `openServerStore` chooses a server's role. */
export const DATABASE_USER = 'assent';

/** `trust`: only the owner of the socket's folder and root may enter it. --no-sync: the cluster is still empty. */
const INITDB_OPTIONS = '-A trust -E UTF8 --locale=C --no-sync --no-instructions'.split(' ');

/** Creates a missing cluster. @throws {Error}, also if another major version made it */
export async function createCluster(cluster: Cluster): Promise<void> {
  const { place, binaries } = cluster;
  await makeFolder(place.cluster, async (draft) => {
    if (place.runAs.uid !== undefined) chownSync(draft, place.runAs.uid, place.runAs.gid);
    await initdb(draft, cluster);
  });
  const made = readFileSync(path.join(place.cluster, 'PG_VERSION'), 'utf8').trim();
  const [installed] = binaries.version.split('.');
  if (made === installed) return;
  throw new Error(
    `${place.cluster} was created by PostgreSQL ${made} and PostgreSQL ${installed} is installed: set DATA_DIR to another folder`,
  );
}

/** In its own process group, like PostgreSQL: only `cancelled` ends it, so that no end of its own looks like a fault. */
async function initdb(folder: string, { place, binaries, cancelled }: Cluster): Promise<void> {
  const program = path.join(binaries.folder, 'bin', 'initdb');
  const given = ['-D', folder, '-U', DATABASE_USER, ...INITDB_OPTIONS];
  const options = { ...place.runAs, cwd: '/', env: CLEAN_ENVIRONMENT, detached: true };
  const running = spawn(program, given, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  // Not the option `signal`: it rejects before the end of initdb, which would still write into the folder.
  cancelled.addEventListener('abort', () => running.kill(), { once: true });
  const [[exitCode], said] = await Promise.all([once(running, 'close'), text(running.stderr)]);
  if (exitCode === 0) return;
  const reason = said.trim().replaceAll('\n', ' / ');
  throw new Error(`PostgreSQL cannot create its data in ${place.cluster}: ${reason}`);
}
