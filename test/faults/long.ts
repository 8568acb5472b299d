import { describe } from 'vitest';
import { Cluster } from '../ha/cluster.ts';
import { FAILOVERS } from '../ha/faults.ts';
import { Dice } from './dice.ts';
import { FAULTS } from './faults.ts';
import { makeHome } from './site.ts';
import { testFaults } from './suite.ts';

// The long form, run by `run.mjs`, which passes its command line on in the environment.

const { FAULTS_SEED: seed = '1', FAULTS_NAMES, FAULTS_MINUTES = '8', FAULTS_JOURNAL } = process.env;
const ALL_FAILOVERS = 'failover';
const [ofCluster, others] = [Object.keys(FAILOVERS), Object.keys(FAULTS)];
const asked = FAULTS_NAMES?.split(',').flatMap((name) => (name === ALL_FAILOVERS ? ofCluster : [name]));
const names = asked ?? shuffled(others);
const known = [...others, ...ofCluster];
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) throw new Error(`there is no fault ${unknown}; there are ${known.join(', ')}`);

/** The rest of the time is for recovery and the audit. */
const SHARE = 0.6;
const ms = (Number(FAULTS_MINUTES) * 60_000 * SHARE) / names.length;
const casting = { seed, users: 6, clients: 4, journalFile: FAULTS_JOURNAL };

const here = names.filter((name) => others.includes(name));
describe.runIf(here.length > 0)('on one PostgreSQL', () => {
  testFaults(makeHome, FAULTS, here, ms, casting);
});

const there = names.filter((name) => ofCluster.includes(name));
describe.runIf(there.length > 0)('on a cluster', () => {
  testFaults(Cluster.start, FAILOVERS, there, ms, casting);
});

function shuffled(all: readonly string[]): string[] {
  const dice = new Dice(`${seed} order`);
  const placed = all.map((name) => ({ name, place: dice.next() }));
  return placed.toSorted((one, other) => one.place - other.place).map(({ name }) => name);
}
