import { setFlagsFromString } from 'node:v8';

/**
 * Tells V8 what kind of program this is, before anything has run long enough to be optimized. Two guesses of its own are
 * wrong here; `docs/performance.md` says what each costs.
 *
 * A request waits some milliseconds for a commit that many share. If young objects are cleared away meanwhile, those of
 * all waiting requests survive, and V8 concludes that objects made in these places live long: it then puts them among
 * the old ones at once, where they lie until everything is searched.
 *
 * And V8 lets what is old grow to several times of what was last in use: fast for a browser's tab, and too much for a
 * container whose memory is counted.
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--heap-growing-percent=50');
}
