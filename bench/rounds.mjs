import { CAN_SEE_USAGE, cpuSeconds, memory, postgresCpuSeconds, postgresMemory } from './usage.mjs';

/**
 * @typedef {object} Line what is measured, round after round
 * @property {string} name
 * @property {{ pid: number }} [server] whose CPU and memory are noted
 * @property {{ pid: number }} [loader]
 * @property {() => Promise<Round>} prepare makes ready for one round
 *
 * @typedef {object} Round
 * @property {(onCounting: () => void) => Promise<object>} run tells when answers begin to count, @returns their figures
 * @property {(result: object) => Promise<void>} [check] throws when something is not right afterwards
 */

/**
 * Measures lines in turn, so that whatever slows the machine down meanwhile hits all alike.
 *
 * @param {Line[]} lines @param {number} rounds @param {number} postmaster
 * @returns {Promise<Record<string, object>>} by name: medians of the rounds, sums of answers and errors
 */
export async function inTurn(lines, rounds, postmaster) {
  const results = Object.fromEntries(lines.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const line of lines) results[line.name].push(await measure(line, postmaster));
    process.stderr.write(`  round ${round} of ${rounds}\r`);
  }
  process.stderr.write('\n');
  return Object.fromEntries(lines.map(({ name }) => [name, summarize(results[name])]));
}

/** One round of one line, with the CPU that everybody used while answers counted. */
async function measure({ prepare, server, loader }, postmaster) {
  const { run, check } = await prepare();
  const used = () => ({
    at: performance.now() / 1000,
    server: server && cpuSeconds(server.pid),
    postgres: postgresCpuSeconds(postmaster),
    load: loader && cpuSeconds(loader.pid),
  });
  if (!CAN_SEE_USAGE) return checked(await run(() => {}), check);
  let before = used();
  const result = await run(() => {
    before = used();
  });
  const cpu = coresBetween(before, used());
  const memories = {
    server: server && memory(server.pid),
    postgres: { now: postgresMemory(postmaster) },
    load: loader && memory(loader.pid),
  };
  return checked({ ...result, cpu, memory: memories }, check);
}

async function checked(result, check) {
  await check?.(result);
  return result;
}

/** CPU seconds for each second, by who used them. */
function coresBetween(before, after) {
  const share = (name) => (after[name] - before[name]) / (after.at - before.at);
  return { server: share('server'), postgres: share('postgres'), load: share('load') };
}

function summarize(rounds) {
  const medianOf = (pick) => median(rounds.map(pick).filter(Number.isFinite));
  const sumOf = (pick) => rounds.reduce((sum, round) => sum + pick(round), 0);
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
    memory: rounds.at(-1).memory ?? {},
    rounds,
  };
}

/** @returns null for no numbers */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
