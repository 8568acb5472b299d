import { hash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Place } from './place.ts';

/** Part of the socket's name, not a TCP port: the usual number. */
export const SOCKET_NUMBER = 5432;

/** A socket's folder is the same after a restart, and in `/tmp`, since its path must be short: 103 bytes on macOS. */
export function socketFolder(cluster: string): string {
  return `/tmp/assent-${userInfo().uid}-${hash('sha256', cluster, 'hex').slice(0, 16)}`;
}

/** Makes the socket's folder, open only to PostgreSQL's user and root. @throws {Error} for another user's */
export function makeSocketFolder({ cluster, runAs }: Place): void {
  const folder = socketFolder(cluster);
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const entry = lstatSync(folder, { throwIfNoEntry: false });
  if (entry === undefined) return; // a stop has just removed it: the next start makes it again
  const { uid: me, gid } = userInfo();
  const { uid = me } = runAs;
  if (!entry.isDirectory() || ![me, uid].includes(entry.uid) || (entry.mode & 0o077) !== 0) {
    const remedy = 'remove it, or set DATA_DIR to another folder';
    throw new Error(`${folder} is not a private folder of this user: ${remedy}`);
  }
  if (entry.uid !== uid) chownSync(folder, uid, runAs.gid ?? gid);
}

export function removeSocketFolder(cluster: string): void {
  try {
    rmdirSync(socketFolder(cluster));
  } catch {
    // PostgreSQL restarted in it, or it is gone.
  }
}
