import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Faults } from './faults.ts';
import type { Home } from './home.ts';
import type { Entry } from './journal.ts';
import { type Casting, type Outcome, openStage, play, type Stage } from './round.ts';
import { doneAllTheSame } from './rules/trail.ts';

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

const during = ({ fault, evidence }: Outcome) => evidence.entries.filter((entry) => entry.during === fault);
const told = (what: Entry['told']) => (outcome: Outcome) =>
  during(outcome).filter((entry) => entry.told === what).length;
const done = (what: Entry['told']) => (outcome: Outcome) =>
  doneAllTheSame(outcome.evidence, what).filter((entry) => entry.during === outcome.fault).length;

function outageSeconds(outcome: Outcome): string {
  const times = during(outcome).flatMap((entry) => (entry.told === 'done' ? entry.toldAt : []));
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return (Math.max(0, ...gaps) / 1_000).toFixed(1);
}

const COLUMNS: Record<string, (outcome: Outcome) => string | number> = {
  asked: (outcome) => during(outcome).length,
  'got 503': told('unavailable'),
  'not reached': told('unreached'),
  'no answer': told('nothing'),
  '503 and done': done('unavailable'),
  'no answer and done': done('nothing'),
  'outage in s': outageSeconds,
  'recovered in s': ({ recoverySeconds }) => recoverySeconds.toFixed(1),
  'within 3 s of a takeover': ({ soon }) => soon.length,
  findings: ({ findings }) => Object.values(findings).flat().length,
};

/** One outcome as a line of columns; the first line is the head. */
function lineOf(outcome: Outcome | null): string {
  const cells = Object.entries(COLUMNS).map(([title, of]) =>
    String(outcome === null ? title : of(outcome)).padStart(Math.max(8, title.length)),
  );
  return [(outcome?.fault ?? 'fault').padEnd(18), ...cells].join('  ');
}

function findingsOf({ fault, findings }: Outcome): string {
  const lines = Object.entries(findings).flatMap(([rule, found]) => [
    `  not so in ${fault}: ${rule} (${found.length})`,
    ...found.slice(0, 5).map((finding) => `    ${finding}`),
  ]);
  return lines.join('\n');
}
