import { createHash, randomInt } from 'node:crypto';
import fc from 'fast-check';

/** Where the random input begins: `FUZZ_SEED` repeats an earlier run. */
const SEED = Number(process.env.FUZZ_SEED || randomInt(2 ** 31));
/** `FUZZ_RUNS` times as much input as usual. */
const TIMES = Number(process.env.FUZZ_RUNS || 1);

console.log(`fuzzing with FUZZ_SEED=${SEED} FUZZ_RUNS=${TIMES}`);

export const FUZZ_TIMEOUT_MS = 60_000 * Math.max(1, TIMES);

/**
 * Checks something for random input; each `name` has an input of its own from the same seed. `examples` are checked every time.
 * @throws what `check` threw, for the smallest input found, with how to repeat it
 */
export async function fuzz<Input>(
  name: string,
  runs: number,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => Promise<void>,
  examples: readonly Input[] = [],
): Promise<void> {
  const seed = SEED ^ createHash('sha256').update(name).digest().readInt32LE();
  try {
    await fc.assert(fc.asyncProperty(input, check), {
      seed,
      numRuns: Math.ceil(runs * TIMES) + examples.length,
      examples: examples.map((example) => [example]),
    });
  } catch (error) {
    const { message, cause } = error as Error;
    const short = message.replaceAll(/(.{1,4}?)\1{50,}/g, '$1…'); // what is long is one thing, many times
    throw new Error(`fuzzing ${name}; to repeat it: FUZZ_SEED=${SEED} FUZZ_RUNS=${TIMES}\n${short}`, {
      cause,
    });
  }
}
