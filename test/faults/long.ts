import { expect, it } from 'vitest';
import { FAILOVERS } from '../ha/faults.ts';
import { FAULTS } from './faults.ts';
import { findingsOf } from './report.ts';
import { runFaults, shuffled } from './suite.ts';

// The long form, run by `run.mjs`, which says by the environment what the command line said.

const { FAULTS_SEED: seed = '1', FAULTS_NAMES, FAULTS_MINUTES = '8', FAULTS_JOURNAL } = process.env;
const ALL_FAILOVERS = 'failover';
const asked = FAULTS_NAMES?.split(',').flatMap((name) =>
  name === ALL_FAILOVERS ? Object.keys(FAILOVERS) : [name],
);
const names = asked ?? shuffled(Object.keys(FAULTS), seed);
/** What a fault takes beside its own time: recovery, the audit. */
const SHARE = 0.6;
const ms = (Number(FAULTS_MINUTES) * 60_000 * SHARE) / names.length;

it('nothing is lost, doubled or untrue, whatever fails', { timeout: 24 * 60 * 60 * 1_000 }, async () => {
  const options = { seed, faults: names, ms, users: 6, journalFile: FAULTS_JOURNAL ?? null };
  const outcomes = await runFaults(options, (line) => process.stdout.write(`${line}\n`));
  expect(outcomes.map(findingsOf).filter((findings) => findings !== '')).toEqual([]);
});
