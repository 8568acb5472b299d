import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLEAN_ENVIRONMENT } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { hasCode } from './error.ts';
import { isPostmaster, readPostmaster } from './lockFiles.ts';
import type { Place } from './place.ts';
import { dropSocketFolder, SOCKET_NUMBER, socketFolder } from './socket.ts';

/** How long a stop may take: it writes a checkpoint, and disks can be slow. */
const STOP_DEADLINE = 30_000;
const POLL = 20;

/** Connections for a server, a second one and a few commands, each with its own pool. */
const MAX_CONNECTIONS = 100;

/**
 * Starts PostgreSQL without TCP, in a process group of its own: a Ctrl-C in the terminal must not reach it before
 * the server has answered its last requests. Durability stays as PostgreSQL ships it.
 */
export function startPostmaster(cluster: Cluster): ChildProcess {
  const { place, binaries } = cluster;
  const log = openSync(place.logFile, 'a', 0o600);
  const child = spawn(
    path.join(binaries.folder, 'bin', 'postgres'),
    ['-D', place.cluster, ...settings(place)],
    {
      ...place.runAs,
      cwd: '/',
      env: CLEAN_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  child.unref();
  cluster.started = child;
  return child;
}

function settings({ cluster }: Place): string[] {
  const list = {
    listen_addresses: '',
    port: SOCKET_NUMBER,
    unix_socket_directories: `"${socketFolder(cluster).replaceAll('"', '""')}"`, // quoted: a comma would separate two
    unix_socket_permissions: '0700',
    max_connections: MAX_CONNECTIONS,
  };
  return Object.entries(list).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

export function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/**
 * Stops PostgreSQL and waits until it has let go of its data.
 * @returns false when it did not stop, when somebody else is stopping it, or when it is no process we know as ours
 */
export async function stopPostmaster({ place: { cluster } }: Cluster): Promise<boolean> {
  const postmaster = readPostmaster(cluster);
  if (!postmaster?.ready || !isPostmaster(postmaster.pid, cluster)) return false;
  process.kill(postmaster.pid, 'SIGINT');
  const deadline = Date.now() + STOP_DEADLINE;
  while (readPostmaster(cluster)?.pid === postmaster.pid) {
    if (Date.now() > deadline) return false;
    await sleep(POLL);
  }
  dropSocketFolder(cluster, postmaster.host);
  return true;
}

/** Stops the PostgreSQL that this process has started, be it ready or not. @returns whether it is gone by that */
export async function stopStarted({ started }: Cluster): Promise<boolean> {
  if (!isRunning(started)) return false;
  started.kill('SIGINT');
  for (const deadline = Date.now() + STOP_DEADLINE; Date.now() < deadline; await sleep(POLL)) {
    if (!isRunning(started)) return true;
  }
  return false;
}

/** Tells the PostgreSQL that runs, whoever started it, to stop, and waits for nothing. */
export function interruptPostmaster({ place: { cluster } }: Cluster): void {
  const postmaster = readPostmaster(cluster);
  if (postmaster === undefined || !isPostmaster(postmaster.pid, cluster)) return;
  try {
    process.kill(postmaster.pid, 'SIGINT');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error; // it ended this very moment
  }
}
