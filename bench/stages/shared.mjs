import { SATURATING_CONNECTIONS } from '../settings.mjs';

/**
 * @typedef {object} RoundBench a round's part of it
 * @property {import('../loader.mjs').Loader} loader
 * @property {Pick<import('../settings.mjs').Settings, 'seconds' | 'warmSeconds' | 'codes' | 'tokens'>} settings
 */

/** @typedef {Pick<import('../load/drive.mjs').Job, 'workload' | 'items'> & Partial<import('../load/drive.mjs').Job>} JobOf */

/**
 * A round of any job at the server's full speed.
 *
 * @param {Pick<Bench, 'loader'> & { settings: { seconds: number, warmSeconds: number } }} bench @param {{ port: number }} server
 * @param {JobOf} job @param {number} [connections]
 * @returns {import('../rounds.mjs').Round}
 */
export function loadRound({ settings, loader }, { port }, job, connections = SATURATING_CONNECTIONS) {
  const { seconds, warmSeconds } = settings;
  return { run: (onCounting) => loader.run({ seconds, warmSeconds, connections, port, ...job }, onCounting) };
}

/**
 * A round of exchanges, which ends early when all codes are used. The audit trail must contain exactly the answered ones.
 *
 * @param {RoundBench} bench @param {{ port: number }} server @param {import('../site.mjs').BenchDatabase} database @param
 * {number} [connections]
 */
export async function exchangeRound(bench, server, database, connections) {
  const job = await database.build.questions.exchanges(
    database,
    Math.min(bench.settings.codes, database.grants),
  );
  return { ...loadRound(bench, server, job, connections), check: await rightsAreAudited(database) };
}

/** @param {RoundBench} bench @param {{ port: number }} server @param {import('../site.mjs').BenchDatabase} database */
export async function introspectionRound(bench, server, database) {
  const { tokens } = bench.settings;
  const { introspections } = database.build.questions;
  return loadRound(bench, server, await introspections(database, Math.min(tokens, database.grants)));
}

const COUNT = `select count(*)::int as rows from audit_events where kind = 'exchanged'`;

/**
 * @typedef {object} Bench input of every stage
 * @property {import('../site.mjs').Site} site
 * @property {import('../settings.mjs').Settings} settings
 * @property {import('../site.mjs').BenchDatabase} database
 * @property {import('../program.mjs').Program} server
 * @property {import('../loader.mjs').Loader} loader
 * @property {(name: string) => boolean} wanted
 *
 * @typedef {object} Stage
 * @property {string[]} names for `--only`
 * @property {(bench: Bench) => Promise<Record<string, import('../rounds.mjs').Result>>} run returns lines
 */

/**
 * @param {import('../site.mjs').BenchDatabase} database
 * @returns {Promise<(result: import('../rounds.mjs').Result) => Promise<void>>} a check that the audit trail grew by one row
 *   for each right answer of the round
 */
export async function rightsAreAudited({ db }) {
  const before = (await db.query(COUNT)).rows[0].rows;
  return async ({ right, transactions = right }) => {
    const grown = (await db.query(COUNT)).rows[0].rows - before;
    if (grown !== transactions)
      throw new Error(`${transactions} were exchanged, and ${grown} are in the audit trail`);
  };
}

/**
 * The product's response to a job's first request.
 *
 * @param {number} port
 * @param {{ path: string, headers?: Record<string, string>, shape: RegExp, items: any[] }} job
 */
export async function askOnce(port, { path, headers, shape, items }) {
  const [{ body, holds }] = items;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body,
    headers: { ...headers, ...type },
  });
  const text = await answer.text();
  if (!shape.test(text) || !text.includes(holds))
    throw new Error(`${path} answered ${answer.status} ${text}`);
  return JSON.parse(text);
}
