import { type ChildProcess, execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Binaries, CLEAN_ENVIRONMENT } from './binaries.ts';
import { EmbeddedPostgresError, hasCode } from './error.ts';
import type { Place } from './place.ts';

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

/** A terminal's Ctrl-C also reaches initdb, whose end may be noticed this much before the signal. */
const SIGNAL_MS = 1_000;

/** Creates a missing cluster in a draft folder, then renames it: the first of several wins. @throws EmbeddedPostgresError */
export async function createCluster(cluster: Cluster): Promise<void> {
  const { place, binaries } = cluster;
  if (isMade(place, binaries)) return;
  const draft = mkdtempSync(`${place.cluster}.new-`);
  try {
    if (place.runAs.uid !== undefined) chownSync(draft, place.runAs.uid, place.runAs.gid);
    await initdb(draft, cluster);
    renameSync(draft, place.cluster);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!hasCode(error, 'EEXIST', 'ENOTEMPTY')) throw error;
  }
}

/** @returns true if a cluster exists @throws EmbeddedPostgresError if another major version made it */
function isMade({ cluster }: Place, { version }: Binaries): boolean {
  const file = path.join(cluster, 'PG_VERSION');
  if (!existsSync(file)) return false;
  const made = readFileSync(file, 'utf8').trim();
  const [installed] = version.split('.');
  if (made === installed) return true;
  throw new EmbeddedPostgresError(
    `${cluster} was made by PostgreSQL ${made} and PostgreSQL ${installed} is installed: set DATA_DIR to another folder`,
  );
}

async function initdb(folder: string, { place, binaries, cancelled }: Cluster): Promise<void> {
  const program = path.join(binaries.folder, 'bin', 'initdb');
  const options = { ...place.runAs, cwd: '/', env: CLEAN_ENVIRONMENT };
  const given = ['-D', folder, '-U', DATABASE_USER, ...INITDB_OPTIONS];
  const running = promisify(execFile)(program, given, options);
  // Not the option `signal`: it rejects before the end of initdb, which would still write into the folder.
  cancelled.addEventListener('abort', () => running.child.kill(), { once: true });
  try {
    await running;
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string };
    await sleep(SIGNAL_MS, undefined, { signal: cancelled }).catch(() => {});
    const reason = stderr.trim().replaceAll('\n', ' / ') || String(cause);
    const message = `PostgreSQL cannot create its data in ${place.cluster}: ${reason}`;
    throw new EmbeddedPostgresError(message, { cause });
  }
}
