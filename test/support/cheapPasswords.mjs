import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Loaded into every thread of the tests and of their servers, before its modules: the threads that hash passwords do it at a
// small cost, under the label of the real one, which says that a hash is ours. The salt's beginning tells them. The test of the
// real cost hashes in the main thread.

const CHEAP = { memoryCost: 64, timeCost: 1, parallelism: 1 };
const [CHEAP_LABEL, REAL_LABEL] = ['$m=64,t=1,p=1$', '$m=19456,t=2,p=1$'];
const BEGINNING = Buffer.from('cheap hashes'); // 16 characters of base64

if (!isMainThread) {
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2');
  const { hashSync, verifySync } = argon2;
  argon2.hashSync = (password, cost) => {
    const salt = Buffer.concat([BEGINNING, randomBytes(4)]);
    return hashSync(password, { ...cost, ...CHEAP, salt }).replace(CHEAP_LABEL, REAL_LABEL);
  };
  argon2.verifySync = (hash, password) => {
    const isCheap = hash.includes(`$${BEGINNING.toString('base64')}`);
    return verifySync(isCheap ? hash.replace(REAL_LABEL, CHEAP_LABEL) : hash, password);
  };
}
