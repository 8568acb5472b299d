import { setFlagsFromString } from 'node:v8';

/** Corrects two heuristics of V8's garbage collector before code is optimized. `docs/develop/performance.md` has the figures. */
export function setV8Flags(): void {
  // Objects of requests that wait for a shared commit survive a collection, after which V8 would pretenure them.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // The old generation would grow to several times its live size, too much for a container with limited memory.
  setFlagsFromString('--heap-growing-percent=50');
}
