import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from './error.ts';
import { SOCKET_NUMBER, socketFolder } from './socket.ts';

/**
 * Reads `postmaster.pid`; `host` is the socket's folder. A crash may leave a file that says `ready`.
 * @returns undefined without a file, or if it came with a copy of the folder
 */
export function readPostmaster(cluster: string) {
  const [pid, folder, , port, host = '', , , status = ''] = readLines(pidFile(cluster));
  if (folder !== cluster) return undefined;
  return { pid: Number(pid), host, port: Number(port), ready: status.trim() === 'ready' };
}

/** True while a PostgreSQL starts, runs or stops on this cluster, by its command line. */
export function isPostmaster(pid: number | undefined, cluster: string): boolean {
  return pid !== undefined && commandLine(pid)?.includes(`/postgres -D ${cluster} `) === true;
}

/** Removes lock files whose process id another program got after a crash; they would block the start. @returns true if any */
export function removeRecycledLocks(cluster: string): boolean {
  const socketLock = path.join(socketFolder(cluster), `.s.PGSQL.${SOCKET_NUMBER}.lock`);
  const recycled = [pidFile(cluster), socketLock].filter((file) => namesAnotherProgram(file, cluster));
  for (const file of recycled) rmSync(file, { force: true });
  return recycled.length > 0;
}

function namesAnotherProgram(lockFile: string, cluster: string): boolean {
  const [pid, folder] = readLines(lockFile);
  const command = commandLine(Number(pid));
  if (command === undefined) return false;
  // The owner of a renamed folder's PostgreSQL is unknown, hence any PostgreSQL counts.
  return folder === cluster ? !isPostmaster(Number(pid), cluster) : !/\/postgres( |$)/.test(command);
}

function pidFile(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** @returns undefined if the process doesn't exist or is hidden; empty if it has just died */
function commandLine(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return undefined;
  }
}
