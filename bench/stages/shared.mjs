import { exchanges, introspections } from '../questions.mjs';
import { SATURATING_CONNECTIONS } from '../settings.mjs';

/** A round of any job as fast as the server answers. */
export function loadRound({ settings, loader }, { port }, job, connections = SATURATING_CONNECTIONS) {
  const { seconds, warmSeconds } = settings;
  return { run: (onCounting) => loader.run({ seconds, warmSeconds, connections, port, ...job }, onCounting) };
}

/**
 * A round of exchanges, which ends early when all codes are used. Each one that was answered must be in the audit trail,
 * and nothing else.
 */
export async function exchangeRound(bench, server, database, connections) {
  const job = await exchanges(database, Math.min(bench.settings.codes, database.grants));
  return { ...loadRound(bench, server, job, connections), check: await rightsAreAudited(database) };
}

export async function introspectionRound(bench, server, database) {
  const { tokens } = bench.settings;
  return loadRound(bench, server, await introspections(database, Math.min(tokens, database.grants)));
}

const COUNT = `select count(*)::int as rows from audit_events where kind = 'exchanged'`;

/** @returns a check that the audit trail grew by one row for each right answer of the round */
export async function rightsAreAudited({ db }) {
  const before = (await db.query(COUNT)).rows[0].rows;
  return async ({ right, transactions = right }) => {
    const grown = (await db.query(COUNT)).rows[0].rows - before;
    if (grown !== transactions)
      throw new Error(`${transactions} were exchanged, and ${grown} are in the audit trail`);
  };
}

/** What the product answers to the first question of a job. */
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
