import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import fs from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLEAN_ENVIRONMENT, type Cluster } from './cluster.ts';
import type { ClusterFolder } from './clusterFolder.ts';
import { hasErrnoCode } from './readOrMake.ts';

/** Deadline for a stop: it writes a checkpoint, and disks can be slow. */
const STOP_DEADLINE_MS = 30_000;
const POLL_MS = 20;
const PID_FILE = 'postmaster.pid';

/** Starts PostgreSQL without TCP, in its own process group: a terminal's Ctrl-C must not end it before the last response. */
export function startPostmaster(cluster: Cluster): ChildProcess {
  const { folder, runAs, binaries } = cluster;
  makeSocketFolder(cluster);
  const socket = [`--unix_socket_directories=${socketFolder(folder)}`, '--unix_socket_permissions=0700'];
  const options = ['-D', folder, '--listen_addresses=', `--port=${SOCKET_NUMBER}`, ...socket];
  const log = fs.openSync(cluster.logFile, 'a', 0o600);
  const child = spawn(path.join(binaries.folder, 'bin', 'postgres'), options, {
    ...runAs,
    cwd: '/',
    env: CLEAN_ENVIRONMENT,
    detached: true,
    stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  child.unref();
  cluster.started = child;
  return child;
}

export function startedPid({ started }: Cluster): number | undefined {
  return started?.exitCode === null && started.signalCode === null ? started.pid : undefined;
}

/** Makes PostgreSQL end all connections and stop. @returns false if the process is no PostgreSQL of this cluster */
export function interruptPostmaster(pid: number | undefined, cluster: string): boolean {
  try {
    return isPostmaster(pid, cluster) && process.kill(pid, 'SIGINT');
  } catch {
    return false; // it has just ended
  }
}

/** Stops PostgreSQL and waits until it has released its data. @returns true if it did */
export async function stopPostmaster(pid: number | undefined, cluster: string): Promise<boolean> {
  if (!interruptPostmaster(pid, cluster)) return false;
  for (const deadline = Date.now() + STOP_DEADLINE_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    if (isPostmaster(pid, cluster)) continue;
    removeSocketFolder(cluster);
    return true;
  }
  return false;
}

/**
 * Reads `postmaster.pid`. A crash may leave a file that says `ready`.
 * @returns undefined without a file, or if it came with a copy of the folder
 */
export function readPostmaster(cluster: string) {
  const [pid, folder, , , , , , status = ''] = readLines(path.join(cluster, PID_FILE));
  return folder === cluster ? { pid: Number(pid), isReady: status.trim() === 'ready' } : undefined;
}

/** True while a PostgreSQL starts, runs or stops on this cluster, by its command line. */
export function isPostmaster(pid: number | undefined, cluster: string): pid is number {
  return pid !== undefined && commandLine(pid)?.includes(`/postgres -D ${cluster} `) === true;
}

/** Removes lock files whose process id another program got after a crash; they would block the start. @returns true if any */
export function removeRecycledLocks(cluster: string): boolean {
  const socketLock = path.join(socketFolder(cluster), `.s.PGSQL.${SOCKET_NUMBER}.lock`);
  const recycled = [path.join(cluster, PID_FILE), socketLock].filter((file) =>
    namesAnotherProgram(file, cluster),
  );
  for (const file of recycled) fs.rmSync(file, { force: true });
  return recycled.length > 0;
}

function namesAnotherProgram(lockFile: string, cluster: string): boolean {
  const [pid, folder] = readLines(lockFile);
  const command = commandLine(Number(pid));
  if (command === undefined) return false;
  // The owner of a renamed folder's PostgreSQL is unknown, hence any PostgreSQL counts.
  return folder === cluster ? !isPostmaster(Number(pid), cluster) : !/\/postgres( |$)/.test(command);
}

function readLines(file: string): string[] {
  try {
    return fs.readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if (hasErrnoCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** @returns undefined if the process doesn't exist or is hidden; empty if it has just died */
function commandLine(pid: number): string | undefined {
  try {
    if (fs.existsSync('/proc/self'))
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return undefined;
  }
}

/** Part of the socket's name, not a TCP port: the usual number. */
export const SOCKET_NUMBER = 5432;

/** A socket's folder is the same after a restart, and in `/tmp`, since its path must be short: 103 bytes on macOS. */
export function socketFolder(cluster: string): string {
  return `/tmp/assent-${userInfo().uid}-${hash('sha256', cluster, 'hex').slice(0, 16)}`;
}

/** Makes the socket's folder, open only to PostgreSQL's user and root. @throws {Error} for another user's */
function makeSocketFolder({ folder: cluster, runAs }: ClusterFolder): void {
  const folder = socketFolder(cluster);
  fs.mkdirSync(folder, { mode: 0o700, recursive: true });
  const entry = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (entry === undefined) return; // a stop has just removed it: the next start makes it again
  const { uid: me, gid } = userInfo();
  const { uid = me } = runAs;
  if (!entry.isDirectory() || ![me, uid].includes(entry.uid) || (entry.mode & 0o077) !== 0) {
    const remedy = 'remove it, or set DATA_DIR to another folder';
    throw new Error(`${folder} is not a private folder of this user: ${remedy}`);
  }
  if (entry.uid !== uid) fs.chownSync(folder, uid, runAs.gid ?? gid);
}

function removeSocketFolder(cluster: string): void {
  try {
    fs.rmdirSync(socketFolder(cluster));
  } catch {
    // PostgreSQL restarted in it, or it is gone.
  }
}
