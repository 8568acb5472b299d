import { inTurn } from '../rounds.mjs';
import { flowRound } from './flows.mjs';
import { exchangeRound, introspectionRound } from './shared.mjs';

const ROUNDS = {
  exchange: exchangeRound,
  introspection: introspectionRound,
  page: (bench, server, database) => flowRound(bench, server, database, 'page'),
  approval: (bench, server, database) => flowRound(bench, server, database, 'approval'),
  flow: (bench, server, database) => flowRound(bench, server, database, 'flow'),
};

export const growthLine = (figure, grants) => `${figure}, ${grants} grants`;

/** The same figures with more and more grants in the table: each size is a database with a server of its own. */
export const growth = {
  names: ['growth'],

  async run(bench) {
    const { site, settings, loader } = bench;
    // A fresh server for the smallest too: none is ahead by what it did before.
    const grown = [{ database: bench.database, server: await site.startAssent(bench.database) }];
    for (const grants of settings.growth.sizes) grown.push(await grow(site, grants));
    // The sizes of one figure right after each other.
    const lines = settings.growth.figures.flatMap((figure) =>
      grown.map(({ database, server }) => ({
        name: growthLine(figure, database.grants),
        server,
        loader,
        prepare: () => ROUNDS[figure](bench, server, database),
      })),
    );
    const results = await inTurn(lines, settings.growth.rounds, site.postmaster);
    for (const { server } of grown) await server.stop();
    return results;
  },
};

async function grow(site, grants) {
  process.stderr.write(`  filling ${grants} grants\n`);
  const database = await site.createDatabase(`grown_${grants}`, grants);
  return { database, server: await site.startAssent(database) };
}
