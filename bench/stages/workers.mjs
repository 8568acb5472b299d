import { inTurn } from '../rounds.mjs';
import { assentVariables, SERVE } from '../site.mjs';
import { exchangeRound, introspectionRound } from './shared.mjs';

/** How many processes a server has, each beside the others on the same database. */
const COUNTS = [1, 2];

/** The same questions to one process and to several. @type {import('./shared.mjs').Stage} */
export const workers = {
  names: ['workers'],

  async run(bench) {
    const { site, settings, loader, database } = bench;
    if (settings.only === null) return {}; // for a machine with cores to spare: only when it is named
    const lines = [];
    for (const count of COUNTS) {
      const variables = { ...assentVariables(database), WORKERS: String(count) };
      const server = await site.startServer(`workers-${count}`, SERVE, variables);
      const rounds = { exchange: exchangeRound, introspection: introspectionRound };
      for (const [name, round] of Object.entries(rounds))
        lines.push({
          name: `${name}, WORKERS=${count}`,
          loader,
          prepare: () => round(bench, server, database),
        });
    }
    return inTurn(lines, settings.rounds, site.postmaster);
  },
};
