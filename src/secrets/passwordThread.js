// @ts-check
import { pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto';
import { hashSync, verifySync as verifyArgon2 } from '@node-rs/argon2';
import { verifySync as verifyBcrypt } from '@node-rs/bcrypt';
import { isOwn, MAX_MEMORY_BYTES, readHash } from './foreignHash.js';

// A thread's work for `password.ts`, in JavaScript: the tests' threads can't load TypeScript.

/** OWASP's first recommendation for argon2id: 19 MiB, 2 passes, 1 lane. The library's default is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @param {string} password @returns {string} in PHC string form, with its own salt */
export function hash(password) {
  return hashSync(password.normalize('NFKC'), COST);
}

/**
 * A failed check costs one of our form and, if `foreign` is one, one of that: time must tell no kind of login.
 * @param {{ stored: string | null, password: string, own: string, foreign: string | null }} task `own` and `foreign` are decoys
 * @returns {boolean | null} null if nothing is stored, or nothing that can be read
 */
export function verify({ stored, password, own, foreign }) {
  const result = stored === null ? null : verifyHash(stored, password);
  const missing = stored === null || result === null ? [own, foreign] : [isOwn(stored) ? foreign : own];
  if (!result) for (const decoy of missing) if (decoy !== null) verifyHash(decoy, password);
  return result;
}

/**
 * Compares under NFKC and as typed: an earlier service, even with our parameters, did not normalise.
 * @type {(stored: string, password: string) => boolean | null}
 */
export function verifyHash(stored, password) {
  const read = readHash(stored);
  const normal = password.normalize('NFKC');
  const spellings = new Set(isOwn(stored) ? [normal, password] : [password, normal]);
  try {
    return 'problem' in read ? null : [...spellings].some((spelling) => matches(spelling, read));
  } catch {
    return null;
  }
}

/** @param {string} password @param {Exclude<ReturnType<typeof readHash>, { problem: string }>} read */
function matches(password, { hash, algorithm, numbers, salt, key }) {
  if (algorithm === 'argon2') return verifyArgon2(hash, password);
  if (algorithm === 'bcrypt') return verifyBcrypt(password, hash);
  const { bits, i = 0, ln = 0, r = 0, p = 0 } = numbers;
  const bytes =
    algorithm === 'scrypt'
      ? scryptSync(password, salt, key.length, { N: 2 ** ln, r, p, maxmem: 2 * MAX_MEMORY_BYTES })
      : pbkdf2Sync(password, salt, i, key.length, `sha${bits}`);
  return timingSafeEqual(bytes, key);
}
