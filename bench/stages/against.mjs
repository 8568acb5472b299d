import { buildOf, OURS } from '../build.mjs';
import { inTurn, median, quartiles, ratiosOf } from '../rounds.mjs';
import { ROUNDS } from './growth.mjs';

/** @typedef {import('../rounds.mjs').Result} Result */

/** The compared figures, with their better direction: more responses, less CPU and time for each. */
const PICKS = {
  rate: { of: (/** @type {Result} */ round) => round.perSecond, better: 1 },
  'server CPU': { of: (/** @type {Result} */ round) => round.cpu?.server / round.perSecond, better: -1 },
  'PostgreSQL CPU': {
    of: (/** @type {Result} */ round) => round.cpu?.postgres / round.perSecond,
    better: -1,
  },
  p99: { of: (/** @type {Result} */ round) => round.p99, better: -1 },
};

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

/**
 * @param {Record<string, Result>} lines
 * @returns {string[][]} for each line and commit the median of the rounds' own ratios and their middle half, marked if that
 * half is worse
 */
export function comparison(lines) {
  const rows = Object.entries(lines).flatMap(([name, other]) => {
    const [figure = '', commit] = name.split(' of ');
    const own = lines[figure];
    if (commit === undefined || own === undefined) return [];
    const ratios = Object.entries(PICKS).map(([pick, { of, better }]) => {
      const all = ratiosOf(own.rounds, other.rounds, of).filter(Number.isFinite);
      const [low = NaN, high = NaN] = quartiles(all);
      const text = `${short(median(all) ?? NaN)} (${short(low)} to ${short(high)})`;
      return { pick, text, isWorse: better > 0 ? high < 1 : low > 1 };
    });
    const worse = ratios.flatMap(({ pick, isWorse }) => (isWorse ? [pick] : []));
    const verdict = worse.length === 0 ? '' : `WORSE: ${worse.join(', ')}`;
    return [[`${figure} / ${commit}`, ...ratios.map(({ text }) => text), verdict]];
  });
  return [['', ...Object.keys(PICKS), ''], ...rows];
}

/** @param {number} ratio */
const short = (ratio) => ratio.toFixed(2);
