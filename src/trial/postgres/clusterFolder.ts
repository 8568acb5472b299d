import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { hasErrnoCode, readOrMake } from './readOrMake.ts';

/** Root's data: PostgreSQL refuses to run as root, and its user may be unable to enter DATA_DIR. */
export const ROOT_DATA_FOLDER = '/var/lib/assent';

/** Users that run PostgreSQL for root, best first; `_postgres` is macOS's name. No user is ever created. */
const UNPRIVILEGED = ['postgres', '_postgres', 'nobody'];

/** Spread into the options of `spawn`; empty if PostgreSQL runs as our own user. */
export type RunAs = { uid: number; gid: number } | Record<string, never>;

/** The data of one DATA_DIR, the user that runs PostgreSQL on them, and its log. */
export interface ClusterFolder {
  readonly folder: string;
  readonly runAs: RunAs;
  readonly logFile: string;
}

/**
 * The location for a `dataDir`, the same in every process: inside it, or for root in {@link ROOT_DATA_FOLDER}.
 * @throws {Error} if this user can't run PostgreSQL or write its data, or they belong to another kind of user
 */
export function findClusterFolder(dataDir: string): ClusterFolder {
  makeWritable(dataDir, 0o700, 'set DATA_DIR to a folder that can be written, or DATABASE_URL');
  // One spelling for all: processes recognize a running PostgreSQL by the folder on its command line.
  const home = realpathSync(dataDir);
  const ordinary = path.join(home, 'postgres');
  const pointer = path.join(home, 'postgres.location');
  const logFile = path.join(home, 'postgres.log');
  if (process.getuid?.() !== 0) {
    requirePasswdEntry();
    refuse(pointer, home, 'was first used by root');
    return { folder: ordinary, runAs: {}, logFile };
  }
  refuse(ordinary, home, 'was first used by an ordinary user');
  return { folder: rootsFolder(pointer), runAs: unprivilegedUser(), logFile };
}

/** Makes a missing folder. All files of trial mode are in such folders, so none fails later. */
function makeWritable(folder: string, mode: number, remedy: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    // Node reports EROFS as ENOENT if it may make the parent folders too.
    if (!hasErrnoCode(cause, 'EROFS', 'ENOENT', 'EACCES', 'EPERM')) throw cause;
    const message = `${folder} can't be written, because the disk is read-only or this user has no permission: ${remedy}`;
    throw new Error(message, { cause });
  }
}

/** Refuses to make a second, empty database next to the one with the data. */
function refuse(file: string, folder: string, why: string): void {
  if (existsSync(file))
    throw new Error(`${folder} ${why}: run as that user, or set DATA_DIR to another folder`);
}

function requirePasswdEntry(): void {
  try {
    userInfo();
  } catch (cause) {
    const message = `user ${process.getuid?.()} has no entry in /etc/passwd, which PostgreSQL needs: set DATABASE_URL, or run as another user`;
    throw new Error(message, { cause });
  }
}

function unprivilegedUser(): RunAs {
  const entries = readFileSync('/etc/passwd', 'utf8');
  for (const name of UNPRIVILEGED) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(entries) ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  const message =
    'PostgreSQL refuses to run as root, and there is neither a user "postgres" nor "nobody": set DATABASE_URL';
  throw new Error(message);
}

function rootsFolder(pointer: string): string {
  makeWritable(ROOT_DATA_FOLDER, 0o755, 'run as an ordinary user, or set DATABASE_URL');
  chmodSync(ROOT_DATA_FOLDER, 0o755); // a strict umask must not exclude the unprivileged user
  const folder = readOrMake(pointer, () =>
    path.join(ROOT_DATA_FOLDER, randomBytes(6).toString('hex')),
  ).trim();
  if (path.dirname(folder) === ROOT_DATA_FOLDER) return folder;
  throw new Error(`${pointer} must name a folder in ${ROOT_DATA_FOLDER}, but has "${folder}"`);
}
