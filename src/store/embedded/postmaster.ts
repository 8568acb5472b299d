import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, CLEAN_ENVIRONMENT } from './binaries.ts';
import { hasCode } from './error.ts';
import type { Place } from './place.ts';
import { dropSocketFolder, socketFolder } from './socket.ts';

/** How long a stop may take: it writes a checkpoint, and disks can be slow. */
const STOP_DEADLINE = 30_000;
const POLL = 20;

/** Part of the name of the socket, no TCP port; the usual one. */
const SOCKET_NUMBER = 5432;

/** Connections for a server, a second one and a few commands, each with its own pool. */
const MAX_CONNECTIONS = 100;

/** What a running PostgreSQL says about itself in `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  /** Folder of the Unix socket. */
  readonly host: string;
  readonly port: number;
  /** Whether it accepts connections. A file that a crash left behind may say so too. */
  readonly ready: boolean;
}

/** @returns undefined when there is no `postmaster.pid`, or it came along when the folder was copied from elsewhere. */
export function readPostmaster(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(pidFile(cluster), 'utf8').split('\n');
    const [pid, folder, , port, host = '', , , status = ''] = lines;
    if (folder !== cluster) return undefined;
    return { pid: Number(pid), host, port: Number(port), ready: status.trim() === 'ready' };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Starts PostgreSQL without TCP, in a process group of its own: a Ctrl-C in the terminal must not reach it before
 * the server has answered its last requests. Durability stays as PostgreSQL ships it.
 */
export function startPostmaster(place: Place, binaries: Binaries): ChildProcess {
  const quoted = `"${socketFolder(place.cluster).replaceAll('"', '""')}"`; // the setting is a comma-separated list
  const settings = {
    listen_addresses: '',
    port: SOCKET_NUMBER,
    unix_socket_directories: quoted,
    unix_socket_permissions: '0700',
    max_connections: MAX_CONNECTIONS,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(place.logFile, 'a', 0o600);
  const child = spawn(path.join(binaries.folder, 'bin', 'postgres'), ['-D', place.cluster, ...flags], {
    ...place.runAs,
    cwd: '/',
    env: CLEAN_ENVIRONMENT,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  return child;
}

/**
 * Stops PostgreSQL and waits until it has let go of its data.
 * @returns false when it did not stop, when somebody else is stopping it, or when it is no process we know as ours
 */
export async function stopPostmaster(cluster: string): Promise<boolean> {
  const postmaster = readPostmaster(cluster);
  if (!postmaster?.ready || !commandLine(postmaster.pid)?.includes(`/postgres -D ${cluster} `)) return false;
  process.kill(postmaster.pid, 'SIGINT');
  const deadline = Date.now() + STOP_DEADLINE;
  while (readPostmaster(cluster)?.pid === postmaster.pid) {
    if (Date.now() > deadline) return false;
    await sleep(POLL);
  }
  dropSocketFolder(cluster, postmaster.host);
  return true;
}

/** Whether a PostgreSQL has the cluster in its hands, be it starting, running or stopping. */
export function isPostmasterAlive(cluster: string): boolean {
  const postmaster = readPostmaster(cluster);
  return postmaster !== undefined && isPostgres(commandLine(postmaster.pid));
}

/**
 * After a crash the number in PostgreSQL's lock files can belong to another program by now, and then it refuses to
 * start. A number that belongs to nobody is no obstacle, and the files of a living PostgreSQL are never touched.
 * @returns whether such a file was removed
 */
export function removeRecycledLocks(cluster: string): boolean {
  const socketLock = path.join(socketFolder(cluster), `.s.PGSQL.${SOCKET_NUMBER}.lock`);
  const recycled = [pidFile(cluster), socketLock].filter(namesAnotherProgram);
  for (const file of recycled) rmSync(file, { force: true });
  return recycled.length > 0;
}

function namesAnotherProgram(lockFile: string): boolean {
  if (!existsSync(lockFile)) return false;
  const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
  if (!(pid > 0) || !isProcess(pid)) return false;
  const command = commandLine(pid);
  return command !== undefined && !isPostgres(command);
}

function pidFile(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}

function isPostgres(command: string | undefined): boolean {
  return command !== undefined && /\/postgres( |$)/.test(command);
}

function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** @returns undefined when there is no such process, or the system hides it from us */
function commandLine(pid: number): string | undefined {
  if (existsSync('/proc/self')) {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return undefined;
    }
  }
  return (
    spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? undefined
  );
}
