/** `npm run rivals`: the same work for every product, in turn, on one PostgreSQL. See README.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurn, isWarm } from '../rounds.mjs';
import { loadRound } from '../stages/shared.mjs';
import { readSettings } from './settings.mjs';
import { describeStand, openSite, startProduct } from './stand.mjs';
import { judgeRivals, PHASES, summarize } from './summary.mjs';

const LOAD = fileURLToPath(new URL('load.mjs', import.meta.url));
/** Password hashing is slow by design: more at a time would wait for too long. */
const SIGN_INS_AT_A_TIME = 2;
const SIGN_IN_SECONDS = 900;
/** All codes of a round are used sooner, except where secrets are hashed at great cost. */
const MAX_EXCHANGE_SECONDS = 10;

const settings = readSettings(process.argv.slice(2));
const site = await openSite(settings.postgres);
try {
  const report = await measure();
  mkdirSync(dirname(settings.out), { recursive: true });
  writeFileSync(settings.out, `${JSON.stringify(report, null, 2)}\n`);
  console.log(summarize([report]));
  const missed = judgeRivals(report).some(({ met }) => !met);
  process.exitCode = errorsOf(report) === 0 && !missed ? 0 : 1;
} finally {
  await site.close();
}

async function measure() {
  const machine = await describeStand(site, settings.products);
  const products = [];
  for (const name of settings.products) products.push(await makeReady(await startProduct(site, name)));
  /** @type {Record<string, Record<string, import('../rounds.mjs').Result>>} */
  const lanes = {};
  for (const count of settings.lanes) {
    process.stderr.write(`${count} connections\n`);
    const lines = products.flatMap((product) => linesOf(product, count));
    lanes[count] = await inTurn(lines, settings.rounds, site.postmaster, PHASES.length);
  }
  const warmUp = Object.fromEntries(products.map(({ target, rates }) => [target.product, rates]));
  return { machine, settings, warmUp, lanes };
}

/** @typedef {import('./stand.mjs').Running & { loader: import('../loader.mjs').Loader, rates: number[] }} Ready */

/** All users are signed in, and the server has run until it got no faster. @param {import('./stand.mjs').Running} running @returns {Promise<Ready>} */
async function makeReady(running) {
  const loader = site.startLoader(LOAD);
  const users = Array.from({ length: running.target.users }, (_, n) => n + 1);
  const job = { target: running.target, items: users, port: running.target.port };
  const once = { connections: SIGN_INS_AT_A_TIME, seconds: SIGN_IN_SECONDS, warmSeconds: 0 };
  refuseErrors(await loader.run({ ...job, ...once, workload: 'signIn' }));
  const warming = { connections: Math.max(...settings.lanes), seconds: settings.window, warmSeconds: 0 };
  /** Flows a second. @type {number[]} */
  const rates = [];
  while (rates.length * settings.window < settings.warmup && !isWarm(rates)) {
    const result = await loader.run({ ...job, ...warming, workload: 'flow', again: true });
    refuseErrors(result);
    rates.push(Math.round(result.perSecond));
  }
  process.stderr.write(`  ${isWarm(rates) ? 'warm' : 'not warm'}: ${rates.join(', ')} flows/s\n`);
  return { ...running, loader, rates };
}

/** @param {import('../rounds.mjs').Result} result */
function refuseErrors({ errors, firstError }) {
  if (errors > 0) throw new Error(`${errors} errors before anything was measured: ${firstError}`);
}

/**
 * The lines of a product: each one uses the results of the one before.
 *
 * @param {Ready} product @param {number} connections
 */
function linesOf({ target, server, loader }, connections) {
  const { warm, seconds } = settings;
  const bench = { loader, settings: { seconds: seconds.flow, warmSeconds: warm } };
  const jobs = {
    flow: { seconds: seconds.flow, warmSeconds: warm, again: true },
    front: { seconds: seconds.front, warmSeconds: 0, again: true },
    exchange: { seconds: MAX_EXCHANGE_SECONDS, warmSeconds: 0 },
    introspection: { seconds: seconds.introspection, warmSeconds: 0, again: true },
  };
  return PHASES.map((workload) => {
    const { port, apiPort } = target;
    const at = { port: workload === 'introspection' ? apiPort : port };
    const job = { ...jobs[workload], workload, target, items: [null] };
    return {
      name: `${workload} of ${target.product}`,
      server,
      loader,
      prepare: () => loadRound(bench, at, job, connections),
    };
  });
}

/** @param {Awaited<ReturnType<typeof measure>>} report */
function errorsOf({ lanes }) {
  const results = Object.values(lanes).flatMap((lines) => Object.values(lines));
  return results.reduce((sum, { errors }) => sum + errors, 0);
}
