import { median, quartiles, ratiosOf } from './rounds.mjs';

/** @typedef {import('./rounds.mjs').Result} Result */

/** CPU for each response, of these processes together. @param {string[]} processes */
const cpuOf = (...processes) => ({
  of: (/** @type {Result} */ { cpu, perSecond }) =>
    processes.reduce((sum, name) => sum + cpu?.[name], 0) / perSecond,
  better: -1,
});

/** The compared figures, with their better direction: more responses, less CPU and time for each. */
const PICKS = {
  rate: { of: (/** @type {Result} */ { perSecond }) => perSecond, better: 1 },
  'server CPU': cpuOf('server'),
  'PostgreSQL CPU': cpuOf('postgres'),
  'whole CPU': cpuOf('server', 'postgres'),
  p99: { of: (/** @type {Result} */ { p99 }) => p99, better: -1 },
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
