import { setTimeout as sleep } from 'node:timers/promises';
import { guesses } from '../questions.mjs';
import { inTurn } from '../rounds.mjs';
import { exchangeRound } from './shared.mjs';

/** Simultaneous exchanges while passwords are guessed: busy, but not saturated. */
const CONNECTIONS = 16;
/** More argon2id checks than two cores can make. */
const GUESSES_PER_SECOND = 150;
const GUESSING_CONNECTIONS = 64;
const GUESSES = 10_000;
/** The flood starts before the exchanges, and ends after them. */
const AHEAD_SECONDS = 0.3;

/** The effect of a flood of wrong passwords on other users' exchanges. @type {import('./shared.mjs').Stage} */
export const flood = {
  names: ['flood'],

  async run(bench) {
    const { site, settings, server, loader } = bench;
    const flooder = site.startLoader();
    const quiet = () => exchangeRound(bench, server, bench.database, CONNECTIONS);
    const lines = [
      { name: 'quiet', server, loader, prepare: quiet },
      { name: 'flooded', server, loader, prepare: async () => withFlood(bench, flooder, await quiet()) },
    ];
    const results = await inTurn(lines, settings.rounds, site.postmaster);
    await flooder.stop();
    return results;
  },
};

/** @param {import('./shared.mjs').Bench} bench @param {import('../loader.mjs').Loader} flooder @param {import('../rounds.mjs').Round} round */
async function withFlood({ settings, server, database }, flooder, round) {
  const job = {
    ...guesses(database, GUESSES),
    port: server.port,
    connections: GUESSING_CONNECTIONS,
    perSecond: GUESSES_PER_SECOND,
    warmSeconds: AHEAD_SECONDS,
    seconds: settings.warmSeconds + settings.seconds,
  };
  const run = async (/** @type {() => void} */ onCounting) => {
    const flooding = flooder.run(job);
    await sleep(AHEAD_SECONDS * 1000);
    const result = await round.run(onCounting);
    const { outcomes, errors, firstError } = await flooding;
    return {
      ...result,
      guesses: outcomes,
      errors: result.errors + errors,
      firstError: result.firstError ?? firstError,
    };
  };
  return { ...round, run };
}
