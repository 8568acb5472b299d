import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedPostgresError, hasCode } from './error.ts';

/** Part of the name of the socket, no TCP port: the usual one. */
export const SOCKET_NUMBER = 5432;

/** The shortest limit for the path of a Unix socket is macOS's 103 bytes; the name of the socket takes 14. */
const MAX_FOLDER = 85;

/**
 * The folder for the socket: the cluster itself, or, when its path is too long for a socket, one in the temp folder.
 * The name depends on nothing but user and cluster, so that pools find PostgreSQL again after it was restarted.
 * Root's clusters have short paths, hence the owner is always the user we are.
 * @throws EmbeddedPostgresError when somebody else made that folder
 */
export function socketFolder(cluster: string): string {
  if (Buffer.byteLength(cluster) <= MAX_FOLDER) return cluster;
  const hash = createHash('sha256').update(cluster).digest('hex').slice(0, 16);
  const folder = path.join(tempFolder(), `assent-${process.getuid?.()}-${hash}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  const entry = lstatSync(folder, { throwIfNoEntry: false });
  if (!entry) return socketFolder(cluster); // the last one out removed it this very moment
  if (entry.isDirectory() && entry.uid === process.getuid?.() && (entry.mode & 0o077) === 0) return folder;
  throw new EmbeddedPostgresError(
    `${folder} is not a private folder of this user: set TMPDIR to a folder that is`,
  );
}

/** Removes a temp folder of {@link socketFolder}, unless somebody has started PostgreSQL in it again. */
export function dropSocketFolder(cluster: string, folder: string): void {
  if (folder === cluster) return;
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
  }
}

function tempFolder(): string {
  return Buffer.byteLength(tmpdir()) <= MAX_FOLDER / 2 ? tmpdir() : '/tmp';
}
