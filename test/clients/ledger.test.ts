import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useDatabase } from '../support/postgres/database.ts';
import { exampleFile } from './examples.ts';

// The statements of examples/payments/, which docs/integrate/resources.md explains, on a real PostgreSQL.

const { pool } = await useDatabase();
const statement = (name: string) => readFileSync(exampleFile(`payments/${name}.sql`), 'utf8');
const [RESERVE, RELEASE] = [statement('reserve'), statement('release')];
await pool.query(statement('ledger'));
await pool.query(`
  create schema clock;
  create function clock.statement_timestamp() returns timestamptz stable language sql
    as 'select current_setting(''clock.now'')::timestamptz'`);

interface Attempt {
  readonly grant: string;
  readonly key: string;
  readonly budget?: string;
  readonly amount: string;
  /** Null for a one-time payment. */
  readonly days: number | null;
  readonly most: string;
  readonly largest?: string;
}

function valuesOf({ grant, key, budget = 'payment-shop', amount, days, most, largest }: Attempt) {
  return [...[grant, 1, key, `${amount} for 337`], ...[budget, amount, days, most, largest ?? null]];
}

/** Repeats the statement while its verdict is `again`, as the document says. */
async function reserve(attempt: Attempt): Promise<string> {
  for (;;) {
    const { rows } = await pool.query<{ verdict: string }>(RESERVE, valuesOf(attempt));
    expect(rows).toHaveLength(1);
    if (rows[0]?.verdict !== 'again') return rows[0]?.verdict ?? '';
  }
}

const release = (grant: string, key: string) => pool.query(RELEASE, [grant, key]);

/** Makes all payments of a grant older, to the microsecond. */
async function wait(grant: string, time: string): Promise<void> {
  await pool.query('update payments set paid_at = paid_at - $2::interval where grant_id = $1', [grant, time]);
}

/** The largest sum that was spent in any interval of so many days. */
async function mostIn(grant: string, days: number): Promise<string> {
  const { rows } = await pool.query<{ most: string }>(
    `select coalesce(max(spent), 0) as most from (
       select sum(q.amount) as spent from payments p join payments q using (grant_id, budget)
        where grant_id = $1 and p.released_at is null and q.released_at is null
          and q.paid_at >= p.paid_at and q.paid_at < p.paid_at + $2 * interval '24 hours'
        group by p.number) intervals`,
    [grant, days],
  );
  return rows[0]?.most ?? '';
}

// Of 180 and 240 days, one has an hour more or less in Berlin's calendar, on whichever day the test runs.
it.each([1, 30, 180, 240, 9999])('a limit counts the last %s days to the microsecond', async (days) => {
  for (const [more, verdict] of [
    ['-1 microsecond', 'refused'],
    ['0', 'reserved'],
  ] as const) {
    const limited = { grant: randomUUID(), amount: '5', days, most: '5' };
    await reserve({ ...limited, key: '1' });
    expect(await reserveLater({ ...limited, key: '2' }, more)).toBe(verdict);
  }
});

/** Reserves a payment `days` and `more` after the grant's first one, in a session with its own clock. */
async function reserveLater(attempt: Attempt, more: string): Promise<string> {
  const client = await pool.connect();
  try {
    await client.query(`set search_path = clock, pg_catalog, public; set time zone 'Europe/Berlin'`);
    await client.query(
      `select set_config('clock.now', (paid_at + $2 * interval '24 hours' + $3::interval)::text, false)
         from payments where grant_id = $1`,
      [attempt.grant, attempt.days, more],
    );
    const { rows } = await client.query(RESERVE, valuesOf(attempt));
    return rows[0]?.verdict;
  } finally {
    client.release(true);
  }
}

it('docs/integrate/resources.md: a one-time payment is made once per authorization, for any budget and time', async () => {
  const once = { grant: randomUUID(), days: null, most: '300', amount: '300.00' };
  expect(await reserve({ ...once, key: '1' })).toBe('reserved');
  expect(await reserve({ ...once, key: '2', budget: 'another' })).toBe('refused');
  await wait(once.grant, '9999 days');
  expect(await reserve({ ...once, key: '2' })).toBe('refused');
});

it('docs/integrate/resources.md: no payment is above the largest one, and a repeat keeps its verdict', async () => {
  const limited = { grant: randomUUID(), days: 7, most: '2000', largest: '500.5' };
  expect(await reserve({ ...limited, key: '1', amount: '500.51' })).toBe('refused');
  expect(await reserve({ ...limited, key: '1', amount: '500.50' })).toBe('reserved');
  expect(await reserve({ ...limited, key: '1', amount: '500.50', largest: '100' })).toBe('reserved');
  expect(await reserve({ ...limited, key: '2', amount: '100.01', largest: '100' })).toBe('refused');
  expect(await reserve({ ...limited, key: '2', amount: '1499.50', largest: '2000' })).toBe('reserved');
});

const cents = (max: number) => fc.integer({ min: 1, max }).map((all) => (all / 100).toFixed(2));
const load = fc.record({
  days: fc.integer({ min: 1, max: 3 }),
  most: cents(2_000),
  waves: fc.array(
    fc.record({
      amounts: fc.array(cents(600), { minLength: 1, maxLength: 14 }),
      released: fc.nat({ max: 4 }),
      hoursAfter: fc.oneof(fc.constantFrom(0, 24, 48), fc.integer({ min: 0, max: 60 })),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});

it('docs/integrate/resources.md: concurrent payments never exceed a limit, and are not refused if they fit [ledger-1]', async () => {
  const anyLoad = fc.asyncProperty(load, async ({ days, most, waves }) => {
    const all = { grant: randomUUID(), days, most };
    for (const [number, { amounts, released, hoursAfter }] of waves.entries()) {
      const attempts = amounts.map((amount, n) => ({ ...all, amount, key: `${number}-${n}` }));
      const paying = Promise.all(attempts.map(reserve));
      await Promise.all(amounts.slice(0, released).map((_, n) => release(all.grant, `${number - 1}-${n}`)));
      const verdicts = await paying;
      expect(Number(await mostIn(all.grant, days))).toBeLessThanOrEqual(Number(most));
      const refused = released > 0 ? [] : attempts.filter((_, n) => verdicts[n] === 'refused');
      for (const attempt of refused) expect(await reserve(attempt)).toBe('refused');
      await wait(all.grant, `${hoursAfter} hours`);
    }
  });
  await fc.assert(anyLoad, { numRuns: 25 });
});
