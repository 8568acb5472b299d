import { CAN_SEE_USAGE, memory } from '../usage.mjs';
import { exchangeRound } from './shared.mjs';

const BATCH = 10_000;
/** Enough to use up any batch of codes. */
const BATCH_SECONDS = 60;

/** Memory of a fresh server after its first exchanges and after many more. @type {import('./shared.mjs').Stage} */
export const soak = {
  names: ['soak'],

  async run(bench) {
    const { site, settings, database } = bench;
    if (!CAN_SEE_USAGE) return {};
    const server = await site.startAssent(database);
    const patient = {
      ...bench,
      settings: { ...settings, codes: BATCH, seconds: BATCH_SECONDS, warmSeconds: 0 },
    };
    const first = await exchangeMany(patient, server, settings.soak.first);
    const then = await exchangeMany(patient, server, settings.soak.all - settings.soak.first);
    await server.stop();
    return { 'soak, first': first, 'soak, then': { ...then, answers: first.answers + then.answers } };
  },
};

/** @param {import('./shared.mjs').RoundBench & { database: import('../site.mjs').BenchDatabase }} bench @param {import('../program.mjs').Program} server @param {number} count */
async function exchangeMany(bench, server, count) {
  const total = { answers: 0, errors: 0 };
  while (total.answers < count) {
    const { run, check } = await exchangeRound(bench, server, bench.database);
    const result = await run(() => {});
    await check(result);
    total.answers += result.answers;
    total.errors += result.errors;
    process.stderr.write(`  ${total.answers} of ${count}\r`);
    if (result.errors > 0) break;
  }
  process.stderr.write('\n');
  return { ...total, memory: { server: memory(server.pid) } };
}
