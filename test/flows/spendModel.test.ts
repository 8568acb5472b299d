import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from '../../src/secrets/digest.ts';
import { parseToken } from '../../src/secrets/tokens.ts';
import { releasePayment, reservePayment } from '../../src/store/token/payments.ts';
import { flowAt } from '../contract/flowAt.ts';
import { CALLER, useServer } from '../support/server.ts';

// What a budget has spent, compared with a model that adds up each payment of the period anew. A payment is never earlier than its
// token, so the token's time is the clock here, to the microsecond.

const server = await useServer({ countsPayments: true });
const { pool } = server.database;
const { tokenFor } = await flowAt(server);
const client = await server.createClient();

const DAY = 24 * 3_600_000_000;
/** Beyond the machine's clock, before a change to summer time and a leap day in many zones. */
const BEGINNING = Date.UTC(2096, 1, 27) * 1000;
const STEPS = [0, 1, 1_000, 3_600_000_000, DAY - 1, DAY, DAY + 1, 2 * DAY, 7 * DAY - 1, 7 * DAY, 30 * DAY];

const step = fc.constantFrom(...STEPS);
const pay = fc.record({
  kind: fc.constant('pay' as const),
  wait: step,
  days: fc.constantFrom(1, 2, 7),
  hundredths: fc.integer({ min: 1, max: 6_000 }),
});
const release = fc.record({ kind: fc.constant('release' as const), which: fc.nat(20) });

const MOST = 10_000;
const decimal = (hundredths: number) => (hundredths / 100).toFixed(2);

let instances = 0;

it('a budget counts each payment of the last days, to the microsecond, and no released one [spend-1]', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.oneof(pay, pay, pay, release), { maxLength: 25 }),
    async (acts) => {
      instances += 1;
      const token = await tokenFor(client, {
        scope: 'payment-shop.limit(7,100)',
        instance_name: `m${instances}`,
      });
      const { grantId, hash } = parseToken('token', token);
      const paid: { at: number; hundredths: number; released: boolean }[] = [];
      let now = BEGINNING;
      for (const [index, act] of acts.entries()) {
        if (act.kind === 'release') {
          const payment = paid[act.which];
          if (payment === undefined) continue;
          const { verdict } = await releasePayment(pool, {
            grantId: grantId ?? '',
            key: `${act.which}`,
            decideBy: CALLER.decideBy,
          });
          expect(verdict).toBe('released');
          payment.released = true;
          continue;
        }
        now += act.wait;
        const at = Math.max(now, (paid.at(-1)?.at ?? 0) + 1);
        const used = paid
          .filter((one) => !one.released && one.at > at - act.days * DAY)
          .reduce((sum, { hundredths }) => sum + hundredths, 0);
        await pool.query(
          `update grants set token_issued_at = 'epoch'::timestamptz + $2::bigint * interval '1 microsecond' where grant_id = $1`,
          [grantId, now],
        );
        const result = await reservePayment(pool, {
          grantId: grantId ?? '',
          tokenHash: hash,
          scope: 'payment-shop.limit(7,100)',
          key: `${paid.length}`,
          paymentHash: sha256(`${index}`),
          refusal: null,
          budget: sha256('budget'),
          amount: decimal(act.hundredths),
          days: act.days,
          most: decimal(MOST),
          largest: null,
          endsAt: null,
          caller: CALLER,
        });
        const fits = used + act.hundredths <= MOST;
        expect([result.verdict, Number(result.used)]).toEqual([
          fits ? 'reserved' : 'over_budget',
          (used + (fits ? act.hundredths : 0)) / 100,
        ]);
        if (fits) paid.push({ at, hundredths: act.hundredths, released: false });
      }
    },
  );
  await fc.assert(property, { numRuns: 40 });
});
