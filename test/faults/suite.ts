import { Console } from 'node:console';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entry } from './evidence.ts';
import type { Faults } from './faults.ts';
import { type Outcome, openStage, play, type Stage } from './round.ts';
import { doneAllTheSame } from './rules/trail.ts';
import type { Casting, Home } from './site.ts';

/** Against hanging only. */
const PATIENCE_MS = 600_000;

const report = new Console(process.stdout);

/** Tests each of these faults in turn, under load and audited. @param ms how long each lasts, as far as it has a choice */
export function testFaults<StagesHome extends Home>(
  makeHome: () => Promise<StagesHome>,
  faults: Faults<StagesHome>,
  names: readonly string[],
  ms: number,
  casting: Casting,
): void {
  let stage: Stage<StagesHome>;
  const rows: Record<string, ReturnType<typeof rowOf>> = {};

  beforeAll(async () => {
    stage = await openStage(await makeHome(), faults, casting);
  }, PATIENCE_MS);

  afterAll(async () => {
    report.table(rows);
    for (const [why, times] of stage?.load.gaveUp ?? []) report.log(`${times} abandoned actions: ${why}`);
    await stage?.site.close();
  }, PATIENCE_MS);

  it.for(names)(
    'Assent loses, duplicates or corrupts nothing under load during the fault: %s',
    { timeout: PATIENCE_MS + 4 * ms },
    async (name, { skip }) => {
      const whyNot = faults[name]?.whyNot?.() ?? null;
      if (whyNot !== null) skip(whyNot);
      const outcome = await play(stage, name, (share = 1) => sleep(ms * share));
      rows[name] = rowOf(outcome);
      const findings = Object.entries(outcome.findings).flatMap(([rule, found]) => [
        `${rule} (${found.length}):`,
        ...found.slice(0, 5),
      ]);
      expect(findings).toEqual([]);
      expect(outcome.evidence.entries.some(({ during }) => during === name)).toBe(true);
    },
  );
}

function rowOf({ fault, evidence, recoverySeconds, soon, findings }: Outcome) {
  const during = evidence.entries.filter((entry) => entry.during === fault);
  const told = (what: Entry['told']) => during.filter((entry) => entry.told === what).length;
  const done = (what: Entry['told']) =>
    doneAllTheSame(evidence, what).filter((entry) => entry.during === fault).length;
  const times = during.flatMap((entry) => (entry.told === 'done' ? entry.toldAt : []));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return {
    asked: during.length,
    'got 503': told('unavailable'),
    'not reached': told('unreached'),
    'no answer': told('nothing'),
    '503 and done': done('unavailable'),
    'no answer and done': done('nothing'),
    'outage in s': Math.max(0, ...gaps) / 1_000,
    'recovered in s': recoverySeconds,
    'within 3 s of a takeover': soon.length,
    findings: Object.values(findings).flat().length,
  };
}
