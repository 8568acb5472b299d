import { startPeer } from '../peer.mjs';
import { loginOf } from '../people.mjs';
import { queryOf, tokenRequestOf } from '../questions.mjs';
import { inTurn } from '../rounds.mjs';
import { BROWSERS, USERS } from '../settings.mjs';
import { loadRound } from './shared.mjs';

/** @typedef {import('./shared.mjs').RoundBench} RoundBench */

/** Prepared ones for each second of a round. Each approval's page is fetched before it: fewer end it early. */
const PER_SECOND = { page: 1_000, approval: 2_000, flow: 4_000 };

/** A signed-in browser alone and with the exchange, and the peer's equal flow. @type {import('./shared.mjs').Stage} */
export const flows = {
  names: ['page', 'approval', 'flow', 'peer'],

  async run(bench) {
    const { site, settings, server, loader, database, wanted } = bench;
    const names = /** @type {const} */ (['page', 'approval', 'flow']);
    const own = names.filter(wanted).map((name) => ({
      name,
      server,
      loader,
      prepare: () => flowRound(bench, server, database, name),
    }));
    const lines = wanted('peer') ? [...own, await peer(bench)] : own;
    return inTurn(lines, settings.rounds, site.postmaster);
  },
};

/**
 * A round of pages, approvals or whole flows; no two at the same time are about the same grant.
 *
 * @param {RoundBench} bench @param {{ port: number }} server @param {import('../site.mjs').BenchDatabase} database @param {'page' | 'approval' | 'flow'} name
 */
export async function flowRound(bench, server, database, name) {
  const { seconds, warmSeconds } = bench.settings;
  const count = Math.min(database.grants, Math.ceil(PER_SECOND[name] * (seconds + warmSeconds)));
  const job = await database.build.questions.authorizations(database, count);
  return loadRound(bench, server, { ...job, workload: name, again: name === 'page' }, BROWSERS);
}

/** @param {import('./shared.mjs').Bench} bench */
async function peer(bench) {
  const { site, loader } = bench;
  await site.createEmptyDatabase('peer');
  const tokenRequest = tokenRequestOf(0);
  const { client_id: id, client_secret: secret } = tokenRequest;
  const server = await startPeer(site, 'peer', { id, secret });
  const items = Array.from({ length: USERS }, (_, user) => ({ login: loginOf(user) }));
  const job = { workload: 'peerFlow', items, again: true, query: queryOf(0), tokenRequest };
  return { name: 'peer', server, loader, prepare: async () => loadRound(bench, server, job, BROWSERS) };
}
