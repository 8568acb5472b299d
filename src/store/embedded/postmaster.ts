import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, CLEAN_ENVIRONMENT } from './binaries.ts';
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
export function startPostmaster(place: Place, binaries: Binaries): ChildProcess {
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

/**
 * Stops PostgreSQL and waits until it has let go of its data.
 * @returns false when it did not stop, when somebody else is stopping it, or when it is no process we know as ours
 */
export async function stopPostmaster(cluster: string): Promise<boolean> {
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
