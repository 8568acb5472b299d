import type pg from 'pg';
import { isOwn, parseHash } from '../../secrets/foreignHash.js';
import { hashPassword, type QueueTicket, verifyPassword } from '../../secrets/password.ts';
import { findForeignSample, renewHash } from '../../store/account/foreignHashes.ts';
import type { Context } from '../common/context.ts';
import type { Guarded } from './device.ts';

const KEPT_MS = 60_000;

const kept = new WeakMap<pg.Pool, { readonly hashes: Promise<readonly string[]>; readonly until: number }>();

/** Foreign hashes as common as among users, asked once a minute. After a failure the last ones stay. */
function foreignSample(pool: pg.Pool): Promise<readonly string[]> {
  const last = kept.get(pool);
  const now = performance.now();
  if (last !== undefined && now < last.until) return last.hashes;
  const hashes = findForeignSample(pool).then(
    (rows) => rows.map(({ hash }) => hash).filter((hash) => parseHash(hash).problem === null),
    (error: unknown) => {
      if (last !== undefined) return last.hashes;
      kept.delete(pool);
      throw error;
    },
  );
  kept.set(pool, { hashes, until: now + KEPT_MS });
  return hashes;
}

/** A foreign hash to compare in vain, of one form for one login, and of each as often as users have it; null for none. */
export async function foreignDecoy({ db, keyRing }: Context, login: string): Promise<string | null> {
  const hashes = await foreignSample(db);
  const share = keyRing.slotDigest(JSON.stringify(['decoy', login])) / 2 ** 32;
  return hashes[Math.floor(share * hashes.length)] ?? null;
}

/**
 * Hashes a right password anew, unless the hash is ours. If its row changed meanwhile, the password is checked again.
 * @returns the hash that is stored then, null if the password is wrong now
 */
export async function renewed(
  { db }: Context,
  { userId, hash, guarded }: Record<'userId' | 'hash', string> & { guarded: Guarded },
  password: string,
  ticket: QueueTicket,
): Promise<string | null> {
  // Bcrypt reads 72 bytes: what follows was not compared.
  if (isOwn(hash) || (hash.startsWith('$2') && Buffer.byteLength(password) > 72)) return hash;
  const newHash = await hashPassword(password);
  const current = (await renewHash[guarded](db, { userId, hash, newHash }))?.hash ?? null;
  if (current === hash) return newHash;
  return (await verifyPassword(current, password, ticket)) ? current : null;
}
