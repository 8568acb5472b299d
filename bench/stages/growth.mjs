import { inTurn } from '../rounds.mjs';
import { flowRound } from './flows.mjs';
import { exchangeRound, introspectionRound } from './shared.mjs';

/** @typedef {import('./shared.mjs').RoundBench} RoundBench @typedef {import('../rounds.mjs').Round} Round */

/** The hot path. @type {Record<string, (bench: RoundBench, server: { port: number }, database: import('../site.mjs').BenchDatabase) => Promise<Round>>} */
export const ROUNDS = {
  exchange: exchangeRound,
  introspection: introspectionRound,
  page: (bench, server, database) => flowRound(bench, server, database, 'page'),
  approval: (bench, server, database) => flowRound(bench, server, database, 'approval'),
  flow: (bench, server, database) => flowRound(bench, server, database, 'flow'),
};

/** @param {string} figure @param {number} grants */
export const growthLine = (figure, grants) => `${figure}, ${grants} grants`;

/** The same figures with more and more grants in the table: each size has its own database and server. @type {import('./shared.mjs').Stage} */
export const growth = {
  names: ['growth'],

  async run(bench) {
    const { site, loader } = bench;
    const settings = withRoundsOfOneSize(bench.settings);
    const grown = /** @type {Awaited<ReturnType<typeof grow>>[]} */ ([]);
    for (const grants of settings.growth.sizes) grown.push(await grow(site, grants));
    // All sizes of one figure directly after each other.
    const lines = settings.growth.figures.flatMap((figure) =>
      grown.map(({ database, server }) => ({
        name: growthLine(figure, database.grants),
        server,
        loader,
        prepare: () => roundOf(figure)({ ...bench, settings }, server, database),
      })),
    );
    const results = await inTurn(lines, settings.growth.rounds, site.postmaster);
    for (const { server } of grown) await server.stop();
    return results;
  },
};

/** @param {string} figure */
function roundOf(figure) {
  const round = ROUNDS[figure];
  if (round === undefined) throw new Error(`nothing measures ${figure}`);
  return round;
}

/**
 * No more codes in a round than the smallest has grants, so that rounds are of one length.
 *
 * @param {import('../settings.mjs').Settings} settings
 */
function withRoundsOfOneSize(settings) {
  return { ...settings, codes: Math.min(settings.codes, settings.growth.sizes[0] ?? 0) };
}

/** @param {import('../site.mjs').Site} site @param {number} grants */
async function grow(site, grants) {
  process.stderr.write(`  filling ${grants} grants\n`);
  const database = await site.createDatabase(`grown_${grants}`, grants);
  return { database, server: await site.startAssent(database) };
}
