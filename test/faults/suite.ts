import { Dice } from './dice.ts';
import { FAULTS } from './faults.ts';
import { Journal } from './journal.ts';
import { Load } from './load.ts';
import { findingsOf, lineOf } from './report.ts';
import { type Outcome, play, type Stage } from './round.ts';
import { type EmbeddedHome, makeHome, Site } from './site.ts';

/** What a run of the suite is told. */
export interface Options {
  readonly seed: string;
  /** Names of `FAULTS`. */
  readonly faults: readonly string[];
  /** How long each fault lasts. */
  readonly ms: number;
  readonly users: number;
  /** Where the journal is written to, for who looks into a finding. */
  readonly journalFile: string | null;
}

/** Who is told how it goes, line by line. */
export type Say = (line: string) => void;

/** Runs faults one after the other, each under load and audited. @returns what came of each */
export async function runFaults(options: Options, say: Say): Promise<Outcome[]> {
  const home = await makeHome();
  const site = new Site(home, new Journal(options.journalFile));
  try {
    await site.start();
    const people = await site.populate(options.users, 4);
    const losing = new Set(options.faults.filter((name) => FAULTS[name]?.losesAnswers));
    const load = new Load(site, people, options.seed);
    const outcomes = await playAll({ site, people, load, losing }, home, options, say);
    for (const [why, times] of load.gaveUp) say(`  ${times} actions were given up: ${why}`);
    return outcomes;
  } finally {
    await site.close();
  }
}

async function playAll(
  stage: Stage,
  home: EmbeddedHome,
  { faults, ms }: Options,
  say: Say,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  say(lineOf(null));
  for (const name of faults) {
    const fault = FAULTS[name];
    if (fault === undefined)
      throw new Error(`there is no fault ${name}; there are ${Object.keys(FAULTS).join(', ')}`);
    const whyNot = fault.whyNot?.() ?? null;
    if (whyNot !== null) {
      say(`${name.padEnd(18)}  skipped: ${whyNot}`);
      continue;
    }
    const happen = (hold: (share?: number) => Promise<void>) =>
      fault.happen({ site: stage.site, home, hold });
    const outcome = await play(stage, { name, ms, happen });
    say(lineOf(outcome));
    if (Object.keys(outcome.findings).length > 0) say(findingsOf(outcome));
    outcomes.push(outcome);
  }
  return outcomes;
}

/** The same in an order that the seed says. */
export function shuffled(names: readonly string[], seed: string): string[] {
  const dice = new Dice(`${seed} order`);
  return names
    .map((name) => ({ name, place: dice.next() }))
    .sort((one, other) => one.place - other.place)
    .map(({ name }) => name);
}
