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

/** Payments of the last period, as many for each grant. */
const FILL = {
  assent: `
insert into payment_reservations (grant_id, budget, paid_at, key, payment_hash, amount, total, days, token_issued_at)
select g.grant_id, sha256(convert_to($2, 'UTF8')), clock_timestamp() - (of_grant - n + 1) * interval '29 days' / of_grant,
       gen_random_uuid()::text, sha256(convert_to(n::text, 'UTF8')), 1.25, 1.25 * n, ${DAYS}, g.token_issued_at
  from grants g, (select greatest(1, $1::int / $3::int) as of_grant) f, generate_series(1, of_grant) n
 order by n limit $1`,
  ledger: `
insert into payments (grant_id, number, authorized_at, key, request, budget, amount, paid_at)
select g.grant_id, n, 0, gen_random_uuid()::text, '{}', $2, 1.25, clock_timestamp() - (of_grant - n + 1) * interval '29 days' / of_grant
  from grants g, (select greatest(1, $1::int / $3::int) as of_grant) f, generate_series(1, of_grant) n
 order by n limit $1`,
};

/** @param {string} table */
const BYTES = (table) =>
  `select pg_total_relation_size('${table}')::float8 / count(*) as bytes, count(*)::int as rows from ${table}`;

/** @typedef {import('./site.mjs').BenchDatabase} Database */

/** @param {Site} site @param {number} payments @returns {Promise<Database>} */
async function databaseWith(site, payments) {
  const database = await site.createDatabase(`payments_${payments}`, grants);
  const { db } = database;
  await db.query(`update grants set scope = 'payment-shop.limit(${DAYS},${SUM})'`);
  await db.query(await readFile(new URL('../examples/payments/ledger.sql', import.meta.url), 'utf8'));
  for (const fill of Object.values(FILL)) await db.query(fill, [payments, BUDGET, grants]);
  await db.query('vacuum analyze');
  for (const table of ['payment_reservations', 'payments']) {
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
    .map(({ grantId }) => [grantId, 0, randomUUID(), '{}', BUDGET, '1.25', DAYS, SUM]);
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
    const nowhere = { port: 0 };
    lines.push(
      {
        name: `payment, ${size}`,
        server,
        loader,
        prepare: async () => loadRound(bench, server, await payments(database)),
      },
      {
        name: `introspection, ${size}`,
        server,
        loader,
        prepare: async () => loadRound(bench, server, await introspections(database, grants)),
      },
      {
        name: `ledger, ${size}`,
        loader: ledger,
        prepare: () => loadRound({ ...bench, loader: ledger }, nowhere, ledgerJob(database)),
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
  /** @param {string} line @param {number} size @returns {import('./rounds.mjs').Result[]} */
  const roundsOf = (line, size) => results[`${line}, ${size}`]?.rounds ?? [];
  const both = (/** @type {import('./rounds.mjs').Result} */ round) => micros(round, 'server', 'postgres');
  for (const size of sizes) {
    const recipe = roundsOf('ledger', size).map((round) => micros(round, 'postgres', 'load'));
    const own = roundsOf('introspection', size).map((round, n) => both(round) + (recipe[n] ?? NaN));
    say(
      `payment / (introspection + ledger), ${size}`,
      roundsOf('payment', size).map((round, n) => both(round) / (own[n] ?? NaN)),
    );
  }
  const [smallest = 0, largest = 0] = [sizes[0], sizes.at(-1)];
  say(
    `payment, ${largest} / ${smallest}`,
    ratiosOf(roundsOf('payment', largest), roundsOf('payment', smallest), both),
  );
} finally {
  await site.close();
}
