import { buildOf, OURS } from '../build.mjs';
import { inTurn } from '../rounds.mjs';
import { ROUNDS } from './growth.mjs';

/** @param {string} figure @param {import('../build.mjs').Build} build */
const lineOf = (figure, { name }) => (name === '' ? figure : `${figure} of ${name}`);

/**
 * The hot path of this checkout and of earlier commits, each on a database made by its own code, with one load process.
 *
 * @type {import('./shared.mjs').Stage}
 */
export const against = {
  names: Object.keys(ROUNDS),

  async run(bench) {
    const { site, settings, loader, wanted } = bench;
    const builds = [OURS];
    for (const ref of settings.against) builds.push(await buildOf(ref));
    const running = [{ build: OURS, database: bench.database, server: bench.server }];
    for (const build of builds.slice(1)) {
      const database = await site.createDatabase(`bench_${build.name}`, settings.grants, build);
      running.push({ build, database, server: await site.startAssent(database) });
    }
    const lines = {};
    for (const [figure, roundOf] of Object.entries(ROUNDS).filter(([name]) => wanted(name))) {
      const pairs = running.map(({ build, database, server }) => ({
        name: lineOf(figure, build),
        server,
        loader,
        prepare: () => roundOf(bench, server, database),
      }));
      Object.assign(lines, await inTurn(pairs, settings.rounds, site.postmaster, 1));
    }
    return lines;
  },
};
