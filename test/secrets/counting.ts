import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { verify } from '../../src/secrets/passwordThread.js';

export type Task = Parameters<typeof verify>[0];

/** Does checks in a thread. @returns the result of each, and the names of the libraries that compared a hash for it */
export async function countChecks(tasks: readonly Task[]) {
  const thread = new Worker(new URL('countingThread.mjs', import.meta.url), { workerData: tasks });
  const [done] = await once(thread, 'message');
  return done as { readonly result: boolean | null; readonly cost: readonly string[] }[];
}
