import { setFlagsFromString } from 'node:v8';

/** Corrects two guesses of V8's garbage collector, before any code is optimized. `docs/performance.md` has the figures. */
export function setV8Flags(): void {
  // Objects of requests that wait for a shared commit survive a collection, and V8 would then make such ones old at once.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // The old generation would grow to several times its live size, too much for a container whose memory is limited.
  setFlagsFromString('--heap-growing-percent=50');
}
