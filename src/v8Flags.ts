import { setFlagsFromString } from 'node:v8';

/**
 * Corrects two guesses of V8's garbage collector, before any code is optimized. `docs/performance.md` has the figures.
 *
 * Pretenuring: a request waits some milliseconds for a commit that many share. If the young generation is collected
 * meanwhile, the objects of all waiting requests survive; V8 concludes that such objects live long, and from then on
 * allocates them in the old generation, where they stay until a full collection.
 *
 * Heap growth: V8 lets the old generation grow to several times its live size, too much for a container whose memory is
 * limited.
 */
export function setV8Flags(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--heap-growing-percent=50');
}
