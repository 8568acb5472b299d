import {
  CAN_SEE_USAGE,
  cpuSeconds,
  familyCpuSeconds,
  familyMemory,
  memory,
  postgresMemory,
} from './usage.mjs';

/**
 * @typedef {object} Line a measurement, round after round
 * @property {string} name
 * @property {{ pid: number }} [server] its CPU and memory are recorded
 * @property {{ pid: number | undefined }} [loader]
 * @property {() => Round | Promise<Round>} prepare prepares one round
 *
 * @typedef {object} Round
 * @property {(onCounting: () => void) => Promise<Result>} run reports when answers begin to count, and returns their figures
 * @property {(result: Result) => Promise<void>} [check] throws if the result is wrong
 *
 * @typedef {Record<string, any>} Result figures of one round, by name
 */

/**
 * Measures lines in turn, so that other load on the machine affects all equally.
 *
 * @param {Line[]} lines @param {number} rounds @param {number} postmaster
 * @param {number} [shift] each round begins so many lines later, so that no line always follows the same one
 * @returns {Promise<Record<string, Result>>} by name: medians of the rounds, sums of answers and errors
 */
export async function inTurn(lines, rounds, postmaster, shift = 0) {
  const results = lines.map((line) => ({ line, rounds: /** @type {Result[]} */ ([]) }));
  for (let round = 1; round <= rounds; round += 1) {
    const first = ((round - 1) * shift) % lines.length;
    const inOrder = [...results.slice(first), ...results.slice(0, first)];
    for (const result of inOrder) result.rounds.push(await measure(result.line, postmaster));
    process.stderr.write(`  round ${round} of ${rounds}\r`);
  }
  process.stderr.write('\n');
  return Object.fromEntries(results.map(({ line, rounds }) => [line.name, summarize(rounds)]));
}

/**
 * One round of one line, with the CPU of all processes while answers counted.
 *
 * @param {Line} line @param {number} postmaster
 */
async function measure({ prepare, server, loader }, postmaster) {
  const { run, check } = await prepare();
  const used = () => ({
    at: performance.now() / 1000,
    server: server && familyCpuSeconds(server.pid),
    postgres: familyCpuSeconds(postmaster),
    load: loader?.pid && cpuSeconds(loader.pid),
  });
  if (!CAN_SEE_USAGE) return checked(await run(() => {}), check);
  let before = used();
  const result = await run(() => {
    before = used();
  });
  const cpu = coresBetween(before, used());
  const memories = {
    server: server && { ...memory(server.pid), family: familyMemory(server.pid) },
    postgres: { now: postgresMemory(postmaster) },
    load: loader?.pid && memory(loader.pid),
  };
  return checked({ ...result, cpu, memory: memories }, check);
}

/** @param {Result} result @param {Round['check']} check */
async function checked(result, check) {
  await check?.(result);
  return result;
}

/** CPU seconds per second, by process. @param {Result} before @param {Result} after */
function coresBetween(before, after) {
  const share = (/** @type {string} */ name) => (after[name] - before[name]) / (after.at - before.at);
  return { server: share('server'), postgres: share('postgres'), load: share('load') };
}

/** @typedef {(round: Result) => number} Pick */

/** @param {Result[]} rounds @returns {Result} */
function summarize(rounds) {
  const medianOf = (/** @type {Pick} */ pick) => median(rounds.map(pick).filter(Number.isFinite));
  const sumOf = (/** @type {Pick} */ pick) => rounds.reduce((sum, round) => sum + pick(round), 0);
  return {
    perSecond: medianOf((round) => round.perSecond),
    p50: medianOf((round) => round.p50),
    p99: medianOf((round) => round.p99),
    p999: medianOf((round) => round.p999),
    answers: sumOf((round) => round.answers),
    errors: sumOf((round) => round.errors),
    firstError: rounds.find((round) => round.firstError)?.firstError ?? null,
    cpu: {
      server: medianOf((round) => round.cpu?.server),
      postgres: medianOf((round) => round.cpu?.postgres),
      load: medianOf((round) => round.cpu?.load),
    },
    memory: rounds.at(-1)?.memory ?? {},
    rounds,
  };
}

/**
 * The ratio of rates in each round, measured in turn: other load on the machine affects both equally.
 *
 * @param {Result[]} own @param {Result[]} others @param {Pick} [pick]
 */
export function ratiosOf(own, others, pick = ({ perSecond }) => perSecond) {
  return others.flatMap((other, n) => (own[n] ? [pick(own[n]) / pick(other)] : []));
}

/** The bounds of the middle half. @param {readonly number[]} numbers @returns {[number, number] | []} */
export function quartiles(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const beyond = Math.floor(sorted.length / 4);
  const [low, high] = [sorted[beyond], sorted.at(-1 - beyond)];
  return low === undefined || high === undefined ? [] : [low, high];
}

/** The fewest windows of a half, and the factor that no longer counts as a gain. */
const [WARM_WINDOWS, NO_GAIN] = [3, 1.05];

/** True if running twice as long made no window faster: code compiled at run time has been compiled. @param {readonly number[]} rates */
export function isWarm(rates) {
  const half = rates.length >> 1;
  const best = Math.max(...rates.slice(0, half));
  return half >= WARM_WINDOWS && Math.max(...rates.slice(half)) <= NO_GAIN * best;
}

/** @param {readonly number[]} numbers @returns {number | null} null for no numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [below = NaN, above = NaN] = [sorted[middle - 1], sorted[middle]];
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? above : (below + above) / 2;
}
