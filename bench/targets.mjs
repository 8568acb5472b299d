import { median, ratiosOf } from './rounds.mjs';
import { growthLine } from './stages/growth.mjs';

/**
 * A target within one run. `of` takes from the lines two figures, whose ratio counts, or one that counts
 * alone; if a line is missing, the target is not judged.
 *
 * @typedef {object} Target
 * @property {string} name
 * @property {(lines: Record<string, any>) => [number] | [number, number]} of
 * @property {number} [atLeast] @property {number} [atMost]
 */

/** @param {{ growth: { sizes: number[], figures: string[] } }} settings @returns {Target[]} */
export function targetsFor({ growth: { sizes, figures } }) {
  const [smallest = 0, largest = 0] = [sizes[0], sizes.at(-1)];
  const grown = figures.map((figure) => ({
    name: `${figure}: ${largest} grants / ${smallest}`,
    of: rates(growthLine(figure, largest), growthLine(figure, smallest)),
    atLeast: 0.9,
  }));
  return [...FIXED, ...grown];
}

/** @typedef {Record<string, any>} Lines */

/** @param {string} line @param {string} other @returns {Target['of']} */
const rates = (line, other) => (lines) => [lines[line].perSecond, lines[other].perSecond];

/** In µs. @param {import('./rounds.mjs').Result} line */
const cpuOfEach = (line) => (line.cpu.server / line.perSecond) * 1_000_000;

/** Ignored growth of memory: V8 keeps some of its past peak. */
const FLAT = 1.15;

/** Node 26, as in the image, does more of an answer's work besides HTTP in compiled code. */
const OF_FLOOR = Number.parseInt(process.versions.node, 10) >= 26 ? 0.5 : 0.4;

/** @type {Target[]} */
const FIXED = [
  { name: 'exchange / floor', of: rates('exchange', 'floor of exchange'), atLeast: OF_FLOOR },
  { name: 'exchange / pgbench', of: rates('exchange', 'pgbench'), atLeast: 1 },
  { name: 'introspection / floor', of: rates('introspection', 'floor of introspection'), atLeast: OF_FLOOR },
  { name: 'whole flow / node-oidc-provider', of: rates('flow', 'peer'), atLeast: 7.5 },
  { name: 'exchange p99 / p50, saturated', of: ({ exchange }) => [exchange.p99, exchange.p50], atMost: 5 },
  { name: 'p99 flooded / quiet', of: ({ flooded, quiet }) => [flooded.p99, quiet.p99], atMost: 2 },
  {
    name: 'server CPU of a flow after a minute of quiet / steady',
    of: (lines) => [cpuOfEach(lines['flow, after a minute of quiet']), cpuOfEach(lines['flow, steady'])],
    atMost: 2.5, // V8's memory reducer collects everything while idle: bench/EXPERIMENTS.md
  },
  {
    name: 'memory after the soak / after its first',
    of: (lines) => [lines['soak, then'].memory.server.now, lines['soak, first'].memory.server.now],
    atMost: FLAT,
  },
  {
    name: 'highest memory in the soak, MB',
    of: (lines) => [lines['soak, then'].memory.server.highest],
    atMost: 150,
  },
  {
    name: 'ready on an existing database, s',
    of: (lines) => [lines['start, existing database'].seconds],
    atMost: 0.4,
  },
];

/** Factors of whole flows compared with each rival, all of them warm. @type {Record<string, Record<string, number>>} */
const FLOWS_AT_LEAST = {
  ours: { spring: 2.5 },
  'ours@26': { spring: 3.5, peer: 7.5, hydra: 10, keycloak: 10, django: 10 },
};

/**
 * Targets for `rivals/`, from the lines of 64 connections.
 *
 * @param {string} own which Assent: `ours`, or `ours@26` @returns {Target[]}
 */
export function rivalTargets(own) {
  return Object.entries(FLOWS_AT_LEAST[own] ?? {}).map(([rival, atLeast]) => ({
    name: `whole flow: ${own} / ${rival}, median of the rounds' own ratios`,
    of: (lines) => [
      median(ratiosOf(lines[`flow of ${own}`].rounds, lines[`flow of ${rival}`].rounds)) ?? NaN,
    ],
    atLeast,
  }));
}

/** @param {Target[]} targets @param {Lines} lines @returns each target with its figures, their ratio, null if not measured, and the verdict */
export function judge(targets, lines) {
  return targets.map(({ name, of, atLeast = -Infinity, atMost = Infinity }) => {
    const figures = measured(of, lines);
    const value = figures && figures[0] / (figures[1] ?? 1);
    const met = value === null ? null : Number.isFinite(value) && value >= atLeast && value <= atMost;
    return { name, figures, value, target: atMost === Infinity ? `≥ ${atLeast}` : `≤ ${atMost}`, met };
  });
}

/** An unmeasured line has no figures. @param {Target['of']} of @param {Lines} lines */
function measured(of, lines) {
  try {
    return of(lines);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
