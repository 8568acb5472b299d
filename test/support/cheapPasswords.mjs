import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Loaded into every thread of the tests, before its modules: the threads that hash passwords do it at a small cost, which
// the hash itself records. The test of the real cost hashes in the main thread.

const CHEAP = { memoryCost: 64, timeCost: 1, parallelism: 1 };

if (!isMainThread) {
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2');
  const { hashSync } = argon2;
  argon2.hashSync = (password, cost) => hashSync(password, { ...cost, ...CHEAP });
}
