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
const SCOPE = 'payment-shop.limit(7,100)';
const decimal = (hundredths: number) => (hundredths / 100).toFixed(2);

interface Paid {
  readonly at: number;
  readonly hundredths: number;
  released: boolean;
}

type Pay = typeof pay extends fc.Arbitrary<infer Act> ? Act : never;

/** A budget of an authorization of its own, and the payments that the model expects in it. */
class Budget {
  readonly paid: Paid[] = [];
  #now = BEGINNING;
  readonly #grantId: string;
  readonly #tokenHash: ReturnType<typeof sha256>;

  constructor(token: string) {
    const { grantId, hash } = parseToken('token', token);
    this.#grantId = grantId ?? '';
    this.#tokenHash = hash;
  }

  async pay({ wait, days, hundredths }: Pay): Promise<void> {
    this.#now += wait;
    const at = Math.max(this.#now, (this.paid.at(-1)?.at ?? 0) + 1);
    const used = this.paid
      .filter((one) => !one.released && one.at > at - days * DAY)
      .reduce((sum, one) => sum + one.hundredths, 0);
    await pool.query(
      `update grants set token_issued_at = 'epoch'::timestamptz + $2::bigint * interval '1 microsecond' where grant_id = $1`,
      [this.#grantId, this.#now],
    );
    const result = await this.#reserve(days, hundredths);
    const fits = used + hundredths <= MOST;
    const expected = fits ? ['reserved', used + hundredths] : ['over_budget', used];
    expect([result.verdict, Math.round(Number(result.used) * 100)]).toEqual(expected);
    if (fits) this.paid.push({ at, hundredths, released: false });
  }

  #reserve(days: number, hundredths: number) {
    const key = String(this.paid.length);
    return reservePayment(pool, {
      grantId: this.#grantId,
      tokenHash: this.#tokenHash,
      scope: SCOPE,
      key,
      paymentHash: sha256(`${hundredths}`),
      refusal: null,
      budget: sha256('budget'),
      amount: decimal(hundredths),
      days,
      most: decimal(MOST),
      largest: null,
      endsAt: null,
      decideBy: CALLER.decideBy,
    });
  }

  async release(index: number): Promise<void> {
    const payment = this.paid[index];
    if (payment === undefined) return;
    const { decideBy } = CALLER;
    const released = await releasePayment(pool, { grantId: this.#grantId, key: `${index}`, decideBy });
    expect(released.verdict).toBe('released');
    payment.released = true;
  }
}

let instances = 0;

it('a budget counts each payment of the last days, to the microsecond, and no released one [spend-1]', async () => {
  const acts = fc.array(fc.oneof(pay, pay, pay, release), { maxLength: 25 });
  const property = fc.asyncProperty(acts, async (all) => {
    instances += 1;
    const budget = new Budget(await tokenFor(client, { scope: SCOPE, instance_name: `m${instances}` }));
    for (const act of all) await (act.kind === 'pay' ? budget.pay(act) : budget.release(act.which));
  });
  await fc.assert(property, { numRuns: 40 });
});
