import { isMainThread } from 'node:worker_threads';

// Threads are started with the same `--import`; those that check passwords have nothing to trace.
if (isMainThread) await import('./start.mjs');
