import { isMainThread } from 'node:worker_threads';

// Threads start with the same `--import`; those for passwords have nothing to trace.
if (isMainThread) await import('./start.mjs');
