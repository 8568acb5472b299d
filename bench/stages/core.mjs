import { fileURLToPath } from 'node:url';
import { CLIENTS } from '../people.mjs';
import { findPgbench, PREPARE, runPgbench } from '../pgbench.mjs';
import { exchanges, introspections } from '../questions.mjs';
import { inTurn } from '../rounds.mjs';
import { SATURATING_CONNECTIONS } from '../settings.mjs';
import { askOnce, exchangeRound, introspectionRound, loadRound, rightsAreAudited } from './shared.mjs';

const FLOOR = fileURLToPath(new URL('../floor.mjs', import.meta.url));

/** The floor, the limit, and the two constant requests of applications and the payment API. @type {import('./shared.mjs').Stage} */
export const core = {
  names: ['floor', 'pgbench', 'exchange', 'introspection'],

  async run(bench) {
    const { site, settings, server, loader, database, wanted } = bench;
    const round = { exchange: exchangeRound, introspection: introspectionRound };
    const lines = [
      ...(wanted('floor') ? await floors(bench) : []),
      ...(wanted('pgbench') && findPgbench() !== undefined ? limits(bench) : []),
      ...Object.entries(round)
        .filter(([name]) => wanted(name))
        .map(([name, prepare]) => ({
          name,
          server,
          loader,
          prepare: () => prepare(bench, server, database),
        })),
    ];
    return inTurn(lines, settings.rounds, site.postmaster);
  },
};

/**
 * A bare Fastify with the product's responses to the same requests.
 *
 * @param {import('./shared.mjs').Bench} bench
 */
async function floors(bench) {
  const { site, server, database, loader } = bench;
  const questions = {
    exchange: await exchanges(database, 1),
    introspection: await introspections(database, 1),
  };
  /** @type {Record<string, object>} */
  const answers = {};
  for (const job of Object.values(questions)) answers[job.path] = await askOnce(server.port, job);
  const floor = await site.startServer('floor', [FLOOR], { ANSWERS: JSON.stringify(answers) });
  return Object.entries(questions).map(([name, job]) => ({
    name: `floor of ${name}`,
    server: floor,
    loader,
    prepare: () => loadRound(bench, floor, { ...job, again: true }),
  }));
}

/** @param {import('./shared.mjs').Bench} bench */
function limits(bench) {
  return [limit(bench, 'pgbench', 'same'), limit(bench, 'pgbench, bare update', 'bare')];
}

/**
 * PostgreSQL without a server in front of it.
 *
 * @param {import('./shared.mjs').Bench} bench @param {string} name @param {'same' | 'bare'} script
 */
function limit({ site, settings, database }, name, script) {
  const prepare = async () => {
    await database.db.query(PREPARE);
    const run = () =>
      runPgbench({
        pgbench: findPgbench() ?? '',
        script,
        postgres: site.postgres,
        database: database.name,
        users: database.grants / CLIENTS,
        clients: SATURATING_CONNECTIONS,
        seconds: settings.pgbenchSeconds,
        warmSeconds: settings.warmSeconds,
        logPrefix: site.file('pgbench'),
      });
    return { run, check: await rightsAreAudited(database) };
  };
  return { name, prepare };
}
