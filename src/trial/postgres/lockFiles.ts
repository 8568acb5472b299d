import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { hasCode } from './error.ts';
import { SOCKET_NUMBER, socketFolder } from './socket.ts';

/**
 * Reads `postmaster.pid`; `host` is the folder of the socket. A file that a crash left behind may say `ready`, too.
 * @returns undefined when there is no such file, or it came along when the folder was copied from elsewhere
 */
export function readPostmaster(cluster: string) {
  const [pid, folder, , port, host = '', , , status = ''] = readLines(pidFile(cluster));
  if (folder !== cluster) return undefined;
  return { pid: Number(pid), host, port: Number(port), ready: status.trim() === 'ready' };
}

/** True while a PostgreSQL is starting, running or stopping on the cluster. */
export function isPostmasterAlive(cluster: string): boolean {
  const pid = readPostmaster(cluster)?.pid;
  return pid !== undefined && isPostmaster(pid, cluster);
}

/** True for a PostgreSQL on this very cluster, by the command that started it. */
export function isPostmaster(pid: number, cluster: string): boolean {
  return commandLine(pid)?.includes(`/postgres -D ${cluster} `) ?? false;
}

/** Removes lock files whose process id another program has since a crash: PostgreSQL would not start. @returns whether any was */
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
  // Of a folder that has another name now we cannot tell whose PostgreSQL that is, hence any counts.
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

/** @returns undefined when there is no such process or the system hides it; empty for one that has just died */
function commandLine(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return undefined;
  }
}
