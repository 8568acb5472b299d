import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

// Does tasks of the password threads. The cost of each is the names of the libraries that compared a hash.

const calls = [];
for (const name of ['argon2', 'bcrypt']) {
  const library = createRequire(import.meta.url)(`@node-rs/${name}`);
  const { verifySync } = library;
  library.verifySync = (...given) => {
    calls.push(name);
    return verifySync(...given);
  };
}
const { verify } = await import('../../src/secrets/passwordThread.js');
const done = workerData.map((task) => ({ result: verify(task), cost: calls.splice(0).toSorted() }));
parentPort.postMessage(done);
