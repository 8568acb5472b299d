import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Faults } from './faults.ts';
import type { Home } from './home.ts';
import { findingsOf, lineOf } from './report.ts';
import { type Casting, openStage, play, type Stage } from './round.ts';

/** Against hanging only: a machine that does something else takes long. */
const PATIENCE_MS = 600_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Has these faults happen one after the other, each under load, audited, and a test of its own.
 * @param ms how long each lasts, as far as it has a choice
 */
export function testFaults<StagesHome extends Home>(
  makeHome: () => Promise<StagesHome>,
  faults: Faults<StagesHome>,
  names: readonly string[],
  ms: number,
  casting: Casting,
): void {
  let stage: Stage<StagesHome>;

  beforeAll(async () => {
    stage = await openStage(await makeHome(), faults, casting);
    say(lineOf(null));
  }, PATIENCE_MS);

  afterAll(async () => {
    for (const [why, times] of stage?.load.gaveUp ?? []) say(`  ${times} actions were given up: ${why}`);
    await stage?.site.close();
  }, PATIENCE_MS);

  it.for(names)(
    'loses, duplicates or corrupts nothing under load during: %s',
    { timeout: PATIENCE_MS + 4 * ms },
    async (name, { skip }) => {
      const whyNot = faults[name]?.whyNot?.() ?? null;
      if (whyNot !== null) {
        say(`${name.padEnd(18)}  skipped: ${whyNot}`);
        skip(whyNot);
      }
      const outcome = await play(stage, name, (share = 1) => sleep(ms * share));
      say(lineOf(outcome));
      expect(findingsOf(outcome)).toBe('');
      expect(outcome.evidence.entries.some(({ during }) => during === name)).toBe(true);
    },
  );
}
