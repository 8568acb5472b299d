// @ts-check
import { hashSync, verifySync } from '@node-rs/argon2';

// A thread's work for `password.ts`, in JavaScript: the tests' threads can't load TypeScript. Passwords are compared under NFKC.

/** OWASP's first recommendation for argon2id: 19 MiB, 2 passes, 1 lane. The library's default is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** @param {string} password @returns {string} in PHC string form, with its own salt */
export function hash(password) {
  return hashSync(password.normalize('NFKC'), COST);
}

/** @param {{ stored: string, password: string }} task @returns {boolean} */
export function verify({ stored, password }) {
  return verifySync(stored, password.normalize('NFKC'));
}
