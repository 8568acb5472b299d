import { Cluster } from '../ha/cluster.ts';
import { FAILOVERS } from '../ha/faults.ts';
import { findPrograms } from '../ha/programs.ts';
import { Dice } from './dice.ts';
import { FAULTS, type Fault, type Place } from './faults.ts';
import { type Home, makeHome } from './home.ts';
import { Journal } from './journal.ts';
import { Load } from './load.ts';
import { populate } from './population.ts';
import { findingsOf, lineOf } from './report.ts';
import { type Outcome, play, type Stage } from './round.ts';
import { Site } from './site.ts';

export interface Options {
  readonly seed: string;
  /** Names of `FAULTS`. */
  readonly faults: readonly string[];
  readonly ms: number;
  readonly users: number;
  /** Where the journal is written to, for who looks into a finding. */
  readonly journalFile: string | null;
}

/** Who is told how it goes, line by line. */
export type Say = (line: string) => void;

/** Runs faults one after the other, each under load and audited. @returns what came of each */
export async function runFaults(options: Options, say: Say): Promise<Outcome[]> {
  const [ofClusters, others] = [Object.keys(FAILOVERS), Object.keys(FAULTS)];
  const unknown = options.faults.filter((name) => !ofClusters.includes(name) && !others.includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `there is no fault ${unknown.join(', ')}; there are ${[...others, ...ofClusters].join(', ')}`,
    );
  }
  const only = (names: string[]) => ({
    ...options,
    faults: options.faults.filter((name) => names.includes(name)),
  });
  return [
    ...(await runGroup(makeHome, FAULTS, only(others), say)),
    ...(await runGroup(makeCluster, FAILOVERS, only(ofClusters), say)),
  ];
}

async function makeCluster(): Promise<Cluster> {
  const programs = findPrograms();
  if (typeof programs === 'string') throw new Error(programs);
  return Cluster.start(programs);
}

/** Runs faults of one kind of home, on one of them. */
async function runGroup<GroupsHome extends Home>(
  make: () => Promise<GroupsHome>,
  all: Readonly<Record<string, Fault<GroupsHome>>>,
  { faults, seed, users, ms, journalFile }: Options,
  say: Say,
): Promise<Outcome[]> {
  if (faults.length === 0) return [];
  const home = await make();
  const site = new Site(home, new Journal(journalFile));
  try {
    await site.start();
    const people = await populate(home.ownerUrl, users, 4);
    const losing = new Set(faults.filter((name) => all[name]?.losesAnswers));
    const stage = { site, people, load: new Load(site, people, seed), losing, told: new Set<string>() };
    const outcomes: Outcome[] = [];
    say(lineOf(null));
    for (const name of faults) {
      const fault = all[name];
      if (fault !== undefined) outcomes.push(...(await playOne(stage, home, name, fault, ms, say)));
    }
    for (const [why, times] of stage.load.gaveUp) say(`  ${times} actions were given up: ${why}`);
    return outcomes;
  } finally {
    await site.close();
  }
}

/** @returns what came of it; nothing where it can't be made here */
async function playOne<GroupsHome extends Home>(
  stage: Stage,
  home: GroupsHome,
  name: string,
  fault: Fault<GroupsHome>,
  ms: number,
  say: Say,
): Promise<Outcome[]> {
  const whyNot = fault.whyNot?.() ?? null;
  if (whyNot !== null) {
    say(`${name.padEnd(18)}  skipped: ${whyNot}`);
    return [];
  }
  const happen = (hold: Place['hold']) => fault.happen({ site: stage.site, home, hold });
  const outcome = await play(stage, { name, ms, happen });
  say(lineOf(outcome));
  if (Object.keys(outcome.findings).length > 0) say(findingsOf(outcome));
  return [outcome];
}

/** The same in an order that the seed says. */
export function shuffled(names: readonly string[], seed: string): string[] {
  const dice = new Dice(`${seed} order`);
  return names
    .map((name) => ({ name, place: dice.next() }))
    .sort((one, other) => one.place - other.place)
    .map(({ name }) => name);
}
