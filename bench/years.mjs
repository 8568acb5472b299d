/**
 * `node bench/years.mjs`: the effect of years of use on the tables. Runs many transitions on a separate database and
 * prints the final size of each table and its indexes, the HOT updates, and autovacuum's remains. See README.md.
 */
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { POSTGRES_SETTINGS } from './settings.mjs';
import { assentVariables, SERVE, Site } from './site.mjs';
import { AS_SHIPPED, churn } from './years/churn.mjs';
import { Samples } from './years/samples.mjs';

const { values } = parseArgs({
  options: {
    transitions: { type: 'string', default: '10000000' },
    grants: { type: 'string', default: '1000000' },
    'as-shipped': { type: 'boolean', default: false },
    connections: { type: 'string', default: '4' },
  },
});
const [transitions, grants] = [Number(values.transitions), Number(values.grants)];

/** A day's work takes minutes here, so autovacuum runs as often per transition as in a day, without pauses. */
const FASTER = { autovacuum_naptime: '5s', autovacuum_vacuum_cost_delay: '0', max_wal_size: '4GB' };

/** The duration and findings of `assent doctor --invariants`. @param {import('./site.mjs').BenchDatabase} database */
async function prove(database) {
  const started = performance.now();
  const args = [SERVE[0] ?? '', 'doctor', '--invariants', '--patience', '600'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...assentVariables(database) },
  }).catch((error) => error);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const troubles = stdout.split('\n').filter((/** @type {string} */ line) => !line.startsWith('ok'));
  return [`assent doctor --invariants took ${seconds} s`, ...troubles].join('\n').trim();
}

const site = await Site.open({ ...POSTGRES_SETTINGS, ...FASTER });
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void site.close().finally(() => process.exit(1)));
}
try {
  const database = await site.createDatabase('years', grants);
  if (values['as-shipped']) await database.db.query(AS_SHIPPED);
  const samples = new Samples(await site.connect('years'), transitions);
  await samples.take(0);
  const started = performance.now();
  const connections = await Promise.all(
    Array.from({ length: Number(values.connections) }, () => site.connect('years')),
  );
  await churn(connections, grants, transitions, (done) => samples.take(done));
  await samples.settle();
  console.log(`${transitions} transitions in ${Math.round((performance.now() - started) / 1000)} s`);
  console.log(samples.report());
  console.log(await prove(database));
} finally {
  await site.close();
}
