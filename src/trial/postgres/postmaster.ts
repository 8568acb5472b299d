import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLEAN_ENVIRONMENT } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { hasCode } from './error.ts';
import { isPostmaster } from './lockFiles.ts';
import { makeSocketFolder, removeSocketFolder, SOCKET_NUMBER, socketFolder } from './socket.ts';

/** Deadline for a stop: it writes a checkpoint, and disks can be slow. */
const STOP_DEADLINE_MS = 30_000;
const POLL_MS = 20;

/** Starts PostgreSQL without TCP, in its own process group: a terminal's Ctrl-C must not end it before the last response. */
export function startPostmaster(cluster: Cluster): ChildProcess {
  const { place, binaries } = cluster;
  makeSocketFolder(place);
  const settings = {
    listen_addresses: '',
    port: SOCKET_NUMBER,
    unix_socket_directories: socketFolder(place.cluster),
    unix_socket_permissions: '0700',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(place.logFile, 'a', 0o600);
  const child = spawn(path.join(binaries.folder, 'bin', 'postgres'), ['-D', place.cluster, ...options], {
    ...place.runAs,
    cwd: '/',
    env: CLEAN_ENVIRONMENT,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  cluster.started = child;
  return child;
}

export function startedPid({ started }: Cluster): number | undefined {
  return started?.exitCode === null && started.signalCode === null ? started.pid : undefined;
}

/** Makes PostgreSQL end all connections and stop. @returns false if the process is no PostgreSQL of this cluster */
export function interruptPostmaster(pid: number | undefined, cluster: string): boolean {
  if (pid === undefined || !isPostmaster(pid, cluster)) return false;
  try {
    return process.kill(pid, 'SIGINT');
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false; // it has just ended
    throw error;
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
