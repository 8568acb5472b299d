import fc from 'fast-check';
import { expect, it } from 'vitest';
import { grantState, isLive } from '../../src/rules/account/grantState.ts';
import { formatScope, hasSpendingRight } from '../../src/rules/scope/scope.ts';
import { spendsSql } from '../../src/store/common/grants.ts';
import { anyRights } from '../rules/arbitraries.ts';
import { parseScope } from '../rules/rubles.ts';
import { useDatabase } from '../support/postgres/database.ts';

const { pool } = await useDatabase();

/** Whether each scope spends by PostgreSQL, in one statement. */
async function found(scopes: readonly string[]): Promise<boolean[]> {
  const { rows } = await pool.query<{ found: boolean }>(
    `select ${spendsSql('scope')} as found from unnest($1::text[]) with ordinality s (scope, at) order by at`,
    [scopes],
  );
  return rows.map((row) => row.found);
}

/** Any rights, with one space or several before each. */
const scope = fc.tuple(anyRights, fc.constantFrom(' ', '   ')).map(([list, space]) => {
  return `${space}${list.map((right) => formatScope([right])).join(space)}`;
});

it('PostgreSQL and the TypeScript rules agree on which scopes include a payment right', async () => {
  const scopes = fc.array(scope, { minLength: 300, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(scopes, async (given) => {
      expect(await found(given)).toEqual(given.map((one) => hasSpendingRight(parseScope(one))));
    }),
    { numRuns: 5 },
  );
});

it.each<[boolean, ...string[]]>([
  [true, 'payment-shop', 'a payment-p2p', 'payment.to-account("1") a', '  payment-p2p  ', 'a.limit(,5)'],
  [true, 'a("b").limit(7,0.01)', 'a.limitx.limit(1,5)', 'a(".limit(1,5)").limit(1,5)'],
  [true, String.raw`a("\\") payment-shop`, String.raw`a("\\\"") payment-shop`],
  [true, String.raw`a("\"").limit(1,5)`, 'payment-shop.limit(,5)'],
  [false, 'payment-shops', 'my-payment-shop', 'payment-shop:read', 'payment-shop.limits', 'payment.to'],
  [false, 'paymentato-pattern("1")', 'payment.to-pattern:x("1")', 'a.limits', 'a:payment-p2p'],
  [false, 'money-source("card","wallet")', 'a("payment-shop")', 'a(" payment-shop ")'],
  [false, 'a("b.limit(1,5)","phone")', 'a("\n payment-p2p\n")', String.raw`a("\" payment-shop")`],
  [false, String.raw`a("\\\" payment-shop \\")`, String.raw`a("\"") b("\".limit(1,5)")`],
])('SQL and TypeScript agree on payment rights (expected: %s): %j, %j …', async (spending, ...scopes) => {
  expect(scopes.map((one) => hasSpendingRight(parseScope(one)))).toEqual(scopes.map(() => spending));
  expect(await found(scopes)).toEqual(scopes.map(() => spending));
});

/** Any days, ends of months, and the days around the one from which tokens live longer. */
const time = fc.oneof(
  fc.date({ min: new Date('2010-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
  fc
    .constantFrom('2015-08-31', '2016-02-29', '2018-02-06', '2018-02-07', '2024-02-29')
    .map((day) => new Date(day)),
);
it('PostgreSQL and the TypeScript rules agree on which grants are live', async () => {
  const now = new Date();
  const [tokenIssuedAt, revokedAt] = [fc.option(time), fc.option(time, { freq: 5 })];
  const grant = fc.record({ codeExpiresAt: time, tokenIssuedAt, revokedAt });
  const grants = fc.array(grant, { minLength: 500, maxLength: 500 });
  await fc.assert(
    fc.asyncProperty(grants, async (given) => {
      const { rows } = await pool.query<{ live: boolean }>(
        `select is_live(code, token, revoked) as live
           from unnest($1::timestamptz[], $2::timestamptz[], $3::timestamptz[]) with ordinality as g (code, token, revoked, n)
          order by n`,
        [given.map((g) => g.codeExpiresAt), given.map((g) => g.tokenIssuedAt), given.map((g) => g.revokedAt)],
      );
      expect(rows.map(({ live }) => live)).toEqual(given.map((grant) => isLive(grantState(grant, now))));
    }),
    { numRuns: 10 },
  );
});
