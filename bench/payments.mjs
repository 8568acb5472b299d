/**
 * `node bench/payments.mjs`: CPU and size of payments that the server counts (`SPENDING=on`), with few and with many stored
 * ones, beside introspection and the statement of a wallet's own ledger. See README.md.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { form } from './load/message.mjs';
import { anyOf, grantOf } from './people.mjs';
import { introspections } from './questions.mjs';
import { inTurn, median, quartiles, ratiosOf } from './rounds.mjs';
import { POSTGRES_SETTINGS } from './settings.mjs';
import { assentVariables, SERVE, Site } from './site.mjs';
import { loadRound } from './stages/shared.mjs';

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '10000,10000000' },
    grants: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '7' },
  },
});
const [grants, rounds] = [Number(values.grants), Number(values.rounds)];
const sizes = values.payments.split(',').map(Number);

const DAYS = 30;
const SUM = '999999999999';
const BUDGET = JSON.stringify(['payment-shop', null, null]);
const PER_ROUND = 40_000;
const SETTINGS = { seconds: 2, warmSeconds: 0.5 };

/** Payments of the last period, as many for each grant; the ledger's only in the smallest database. */
const FILL = {
  payment_reservations: `
insert into payment_reservations (grant_id, budget, paid_at, key, payment_hash, amount, total, days, token_issued_at)
select g.grant_id, sha256(convert_to($2, 'UTF8')), clock_timestamp() - (of_grant - n + 1) * interval '29 days' / of_grant,
       gen_random_uuid()::text, sha256(convert_to(n::text, 'UTF8')), 1.25, 1.25 * n, ${DAYS}, g.token_issued_at
  from grants g, (select greatest(1, $1::int / $3::int) as of_grant) f, generate_series(1, of_grant) n
 order by n limit $1`,
  payments: `
insert into payments (grant_id, number, authorized_at, key, request, budget, amount, paid_at)
select g.grant_id, n, 0, gen_random_uuid()::text, '{}', $2, 1.25, clock_timestamp() - (of_grant - n + 1) * interval '29 days' / of_grant
  from grants g, (select greatest(1, $1::int / $3::int) as of_grant) f, generate_series(1, of_grant) n
 order by n limit $1`,
};

const TABLES = /** @type {const} */ (['payment_reservations', 'payments']);

/** @param {string} table */
const BYTES = (table) =>
  `select pg_total_relation_size('${table}')::float8 / greatest(count(*), 1) as bytes, count(*)::int as rows from ${table}`;

/** @typedef {import('./site.mjs').BenchDatabase} Database */

/** @param {Site} site @param {number} payments @returns {Promise<Database>} */
async function databaseWith(site, payments) {
  const database = await site.createDatabase(`payments_${payments}`, grants);
  const { db } = database;
  await db.query(`update grants set scope = 'payment-shop.limit(${DAYS},${SUM})'`);
  await db.query(await readFile(new URL('../examples/payments/ledger.sql', import.meta.url), 'utf8'));
  await db.query('set session_replication_role = replica'); // the foreign keys hold by construction
  for (const table of TABLES)
    if (table === TABLES[0] || payments === sizes[0]) await db.query(FILL[table], [payments, BUDGET, grants]);
  await db.query('reset session_replication_role');
  await db.query('vacuum analyze');
  for (const table of TABLES) {
    const { bytes, rows } = (await db.query(BYTES(table))).rows[0];
    console.log(`${table}: ${rows} rows, ${Math.round(bytes)} bytes each with indexes`);
  }
  return database;
}

/** @param {Database} database */
async function payments(database) {
  const job = await introspections(database, Math.min(PER_ROUND, grants));
  const items = job.items.map(({ body, holds }) => {
    const payment = { key: randomUUID(), amount: '1.25', currency: 'RUB', source: 'wallet', shop: '337' };
    return { body: `${body}&${form(payment)}`, holds };
  });
  return { ...job, path: '/oauth/spend', shape: /"verdict":"reserved"/, items, again: false };
}

/** @param {Database} database */
function ledgerJob({ url }) {
  const items = anyOf(grants, Math.min(PER_ROUND, grants))
    .map(grantOf)
    .map(({ grantId }) => [grantId, 0, randomUUID(), '{}', BUDGET, '1.25', DAYS, SUM, null]);
  return { workload: 'ledger', items, url };
}

/** CPU of an answer in µs. @param {import('./rounds.mjs').Result} round @param {string[]} processes */
const micros = ({ cpu, perSecond }, ...processes) =>
  (processes.reduce((sum, name) => sum + cpu[name], 0) / perSecond) * 1e6;

const site = await Site.open(POSTGRES_SETTINGS);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void site.close().finally(() => process.exit(1)));
}
try {
  const loader = site.startLoader();
  const ledger = site.startLoader(fileURLToPath(new URL('payments/ledger.mjs', import.meta.url)));
  const lines = [];
  for (const size of sizes) {
    const database = await databaseWith(site, size);
    const variables = { ...assentVariables(database), SPENDING: 'on' };
    const server = await site.startServer(`assent-${size}`, SERVE, variables);
    const bench = { loader, settings: SETTINGS };
    lines.push({
      name: `payment, ${size}`,
      server,
      loader,
      prepare: async () => loadRound(bench, server, await payments(database)),
    });
    if (size !== sizes[0]) continue;
    lines.push(
      {
        name: 'introspection',
        server,
        loader,
        prepare: async () => loadRound(bench, server, await introspections(database, grants)),
      },
      {
        name: 'ledger',
        loader: ledger,
        prepare: () => loadRound({ ...bench, loader: ledger }, { port: 0 }, ledgerJob(database)),
      },
    );
  }
  const results = await inTurn(lines, rounds, site.postmaster, 1);
  for (const [name, result] of Object.entries(results)) {
    const parts = name.startsWith('ledger') ? ['postgres', 'load'] : ['server', 'postgres'];
    const each = parts.map(
      (part) => `${part === 'load' ? 'client' : part} ${micros(result, part).toFixed(0)} µs`,
    );
    console.log(
      `${name}: ${Math.round(result.perSecond)} a second, ${each.join(', ')}, errors ${result.errors} ${result.firstError ?? ''}`,
    );
  }
  /** @param {string} what @param {number[]} ratios */
  const say = (what, ratios) =>
    console.log(
      `${what}: ${median(ratios)?.toFixed(2)} (${quartiles(ratios)
        .map((one) => one.toFixed(2))
        .join(' to ')})`,
    );
  const both = (/** @type {import('./rounds.mjs').Result} */ round) => micros(round, 'server', 'postgres');
  /** @type {import('./rounds.mjs').Result[][]} */
  const [first = [], ...others] = sizes.map((size) => results[`payment, ${size}`]?.rounds ?? []);
  /** @type {import('./rounds.mjs').Result[]} */
  const ledgerRounds = results.ledger?.rounds ?? [];
  const introspected = (results.introspection?.rounds ?? []).map(both);
  const recorded = ledgerRounds.map((round) => micros(round, 'postgres', 'load'));
  say(
    `payment / (introspection + ledger), ${sizes[0]}`,
    first.map((round, n) => both(round) / ((introspected[n] ?? NaN) + (recorded[n] ?? NaN))),
  );
  for (const [n, rounds] of others.entries())
    say(`payment, ${sizes[n + 1]} / ${sizes[0]}`, ratiosOf(rounds, first, both));
} finally {
  await site.close();
}
