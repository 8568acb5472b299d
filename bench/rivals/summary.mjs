import { isWarm, median, ratiosOf } from '../rounds.mjs';
import { judge, rivalTargets } from '../targets.mjs';

/** The measurements of each product, in order. */
export const PHASES = /** @type {const} */ (['flow', 'front', 'exchange', 'introspection']);

/**
 * @typedef {import('../rounds.mjs').Result} Result
 * @typedef {{ machine: any, warmUp: Record<string, number[]>, lanes: Record<string, Record<string, Result>> }} Report
 * @typedef {(name: string, phase: string) => Result[]} Rounds of a product in one phase, in order
 */

/** Assent on each Node is compared with all others. @param {string} name */
const isOurs = (name) => name.startsWith('ours');

/** The tables of `docs/compare.md`. @param {Report[]} reports with the rounds to combine */
export function summarize(reports) {
  const counts = [...new Set(reports.flatMap(({ lanes }) => Object.keys(lanes)))];
  const parts = counts.sort((a, b) => Number(b) - Number(a)).map((count) => summarizeOne(reports, count));
  return [describe(reports), ...parts, ...reports.flatMap(notWarm), targets(reports)]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** @param {Report[]} reports */
function describe(reports) {
  return reports
    .map(({ machine: { postgres, products, ...machine } }) => {
      const entries = { ...machine, PostgreSQL: postgres.server_version, ...products };
      return Object.entries(entries)
        .filter(([, value]) => value !== '')
        .map(([name, value]) => `${name} ${value}`)
        .join(' · ');
    })
    .join('\n\n');
}

/** Their figures are too low. @param {Report} report */
function notWarm({ warmUp }) {
  const cold = Object.entries(warmUp).filter(([, rates]) => !isWarm(rates));
  return cold.map(([name, rates]) => `${name} was not warm before its rounds: ${rates.join(', ')} flows/s`);
}

/** @param {Report[]} reports @param {string} count of connections */
function summarizeOne(reports, count) {
  const lines = reports.map(({ lanes }) => lanes[count] ?? {});
  /** @type {Rounds} */
  const rounds = (name, phase) => lines.flatMap((line) => line[`${phase} of ${name}`]?.rounds ?? []);
  const names = new Set(lines.flatMap((line) => Object.keys(line).map((key) => key.split(' of ')[1] ?? '')));
  const all = [...names];
  const number = rounds(all[0] ?? '', 'flow').length;
  return [
    `### ${count} connections, medians of ${number} paired rounds`,
    rates(all, rounds),
    ...all.filter(isOurs).map((own) => ratios(own, all, rounds)),
  ].join('\n\n');
}

/** @param {string[]} names @param {Rounds} rounds */
function rates(names, rounds) {
  const columns = PHASES.flatMap((phase) => [`${phase} /s`, 'CPU ms', 'p50 / p99 ms']);
  const head = ['CPU: server + PostgreSQL, of each answer', ...columns, 'memory MB', 'errors'];
  const rows = names.map((name) => {
    const of = (/** @type {string} */ phase, /** @type {(round: Result) => number} */ pick) =>
      median(rounds(name, phase).map(pick));
    const cpu = (/** @type {string} */ phase, /** @type {'server' | 'postgres'} */ who) =>
      short(of(phase, (round) => (round.cpu?.[who] * 1000) / round.perSecond));
    const figures = PHASES.flatMap((phase) => [
      short(of(phase, ({ perSecond }) => perSecond)),
      `${cpu(phase, 'server')} + ${cpu(phase, 'postgres')}`,
      `${short(of(phase, ({ p50 }) => p50))} / ${short(of(phase, ({ p99 }) => p99))}`,
    ]);
    const memory = of('introspection', (round) => round.memory?.server?.family);
    const errors = PHASES.flatMap((phase) => rounds(name, phase)).reduce(
      (sum, round) => sum + round.errors,
      0,
    );
    return [name, ...figures, short(memory), errors];
  });
  return table([head, ...rows]);
}

/** @param {string} own @param {string[]} names @param {Rounds} rounds */
function ratios(own, names, rounds) {
  const head = [`${own} / …, median (lowest–highest)`, ...PHASES, `exchange p99, … / ${own}`];
  const others = names.filter((name) => name !== own);
  const rows = others.map((name) => {
    const rates = PHASES.map((phase) => range(ratiosOf(rounds(own, phase), rounds(name, phase))));
    const waits = ratiosOf(rounds(name, 'exchange'), rounds(own, 'exchange'), ({ p99 }) => p99);
    return [name, ...rates, range(waits)];
  });
  return table([head, ...rows]);
}

/** The targets with 64 connections. @param {Report} report */
export function judgeRivals({ lanes }) {
  const lines = lanes[64] ?? {};
  const own = Object.keys(lines).flatMap((line) => /^flow of (ours.*)$/.exec(line)?.[1] ?? []);
  return judge(own.flatMap(rivalTargets), lines).filter(({ met }) => met !== null);
}

/** @param {Report[]} reports */
function targets(reports) {
  const rows = reports
    .flatMap(judgeRivals)
    .map(({ name, value, target, met }) => [name, short(value), target, met ? 'met' : 'MISSED']);
  return rows.length === 0 ? '' : table([['target', 'measured', 'wanted', ''], ...rows]);
}

/** @param {number[]} all */
function range(all) {
  const values = all.filter(Number.isFinite);
  if (values.length === 0) return '–';
  return `${short(median(values))} (${short(Math.min(...values))}–${short(Math.max(...values))})`;
}

/** A shared machine gives at most three exact digits. @param {number | null | undefined} value */
function short(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** @param {unknown[][]} rows */
function table(rows) {
  const lines = rows.map((cells) => `| ${cells.join(' | ')} |`);
  const [head = ''] = lines;
  return [head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...lines.slice(1)].join('\n');
}
