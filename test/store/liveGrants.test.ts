import fc from 'fast-check';
import { expect, it } from 'vitest';
import { grantState, isLive } from '../../src/rules/account/grantState.ts';
import { useDatabase } from '../support/postgres/database.ts';

const database = await useDatabase();

/** Days where months end differently, and either side of the day from which tokens live longer. */
const time = fc.oneof(
  fc.date({ min: new Date('2010-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
  fc
    .constantFrom('2015-08-31', '2016-02-29', '2018-02-06', '2018-02-07', '2024-02-29')
    .map((day) => new Date(day)),
);
const now = new Date();

it('PostgreSQL finds the same grants live as the rules do', async () => {
  const [tokenIssuedAt, revokedAt] = [fc.option(time), fc.option(time, { freq: 5 })];
  const grant = fc.record({ codeExpiresAt: time, tokenIssuedAt, revokedAt });
  const grants = fc.array(grant, { minLength: 500, maxLength: 500 });
  await fc.assert(
    fc.asyncProperty(grants, async (given) => {
      const { rows } = await database.pool.query<{ live: boolean }>(
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
