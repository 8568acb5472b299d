import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenLifetimeFrom } from '../../src/rules/common/lifetimes.ts';
import { covers, hundredths, moneyOf } from '../../src/rules/common/money.ts';
import { formatScope, type Right } from '../../src/rules/scope/scope.ts';
import {
  earlierEnds,
  type LoweredLimit,
  type LoweringProblem,
  lowerableLimits,
  lowerLimits,
} from '../../src/rules/spending/lowering.ts';
import { anyString, forAny, rights } from './arbitraries.ts';
import { parseScope, rubles } from './rubles.ts';

/** The scope that is granted when `typed` stands in the field of the right at `index`, or the problem with it. */
function granted(scope: string, typed: string, index = 0): string | LoweringProblem | undefined {
  const lowering = lowerLimits(parseScope(scope), new Map([[index, { sum: typed }]]));
  return lowering.problems === null ? formatScope(lowering.rights) : lowering.problems.get(index)?.sum;
}

/** Sums as a user may write them, each with its value in hundredths. */
const written = fc
  .tuple(
    fc.bigInt({ min: 1n, max: 99_999_999_999_999n }),
    fc.constantFrom('.', ','),
    fc.constantFrom('', ' ', '\u00a0', '\u202f'),
  )
  .map(([sum, point, space]) => {
    const [whole = '', decimals] = moneyOf(sum, 'RUB').sum.split('.');
    const grouped = whole.replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, space);
    return { sum, text: decimals === undefined ? grouped : `${grouped}${point}${decimals}` };
  });

describe('lowering a limit', () => {
  it.each(['٢٥٠٠٫٥', '۲۵۰۰,۵', '२५००.५', '２５００.５'])('takes the digits of a keyboard: %s', (typed) => {
    expect(granted('payment-shop.limit(30,45000)', typed)).toBe('payment-shop.limit(30,2500.50)');
  });

  it.each<[LoweringProblem, typed: string[]]>([
    ['not_a_sum', ['', ' ', 'five', 'RUB 5', '-5', '+5', '5e3', '0x10', '.5', '5\0']],
    ['not_a_sum', ['1.000,50', '1,000,000', '10 00', '1000 000', '1  000']],
    ['too_many_decimals', ['1,000', '1.000']],
    ['not_above_zero', ['0', '0,00']],
    ['higher_than_asked', ['45000.01', '45 001', '9'.repeat(1_000)]],
  ])('is refused as %s if the user types one of %j', (problem, texts) => {
    for (const typed of texts)
      expect([typed, granted('payment-shop.limit(30,45000)', typed)]).toEqual([typed, problem]);
  });

  it('reports the problem of each limit that can’t be granted', () => {
    const asked = parseScope('payment-shop payment-p2p.limit(7,5) account-info');
    const { problems } = lowerLimits(
      asked,
      new Map(
        [{ sum: '', each: '3001' }, { sum: '5', each: '5.01' }, { sum: '1' }].map((one, at) => [at, one]),
      ),
    );
    expect(Object.fromEntries(problems ?? [])).toEqual({
      0: { sum: 'not_a_sum', each: 'higher_than_asked' },
      1: { each: 'higher_than_asked' },
    });
  });

  it('grants typed sums up to the requested sum, refuses higher sums, and changes nothing else', () => {
    forAny(rights, fc.array(written, { minLength: 6, maxLength: 6 }), (asked, sums) => {
      const typed = new Map(
        lowerableLimits(asked).map(({ index }) => [index, { sum: sums[index]?.text ?? '' }]),
      );
      const lowering = lowerLimits(asked, typed);
      if (lowering.problems !== null) {
        for (const [index, problem] of lowering.problems) {
          expect(problem).toEqual({ sum: 'higher_than_asked' });
          expect(sums[index]?.sum).toBeGreaterThan(cents(asked[index]));
        }
        return;
      }
      const given = parseScope(formatScope(lowering.rights));
      expect(given).toEqual(lowering.rights);
      expect(given.map(withoutSum)).toEqual(asked.map(withoutSum));
      expect(given.map(({ limit }) => limit?.until)).toEqual(asked.map(({ limit }) => limit?.until));
      for (const [index] of typed) expect(cents(given[index])).toBe(sums[index]?.sum);
      const changed = given.some((right, index) => cents(right) !== cents(asked[index]));
      expect(lowering.isLower).toBe(changed);
      if (!changed) expect(given).toEqual(asked);
    });
  });

  it('never raises a limit and never changes a one-time sum, for any typed text [lowering-1]', () => {
    const typed = fc.oneof(
      anyString,
      written.map(({ text }) => text),
      fc.constantFrom('1', '0,01'),
    );
    const parts = fc.constantFrom('sum' as const, 'each' as const);
    const ends = fc.constantFrom(undefined, '', '2027-06-30', '2001-01-01');
    fc.assert(
      fc.property(rights, fc.nat({ max: 5 }), parts, typed, ends, (asked, place, part, text, until) => {
        const lowering = lowerLimits(asked, new Map([[place % asked.length, { [part]: text, until }]]));
        if (lowering.problems !== null) return;
        for (const [index, right] of lowering.rights.entries()) {
          expect(cents(right)).toBeLessThanOrEqual(cents(asked[index]));
          const [before, after] = [asked[index]?.limit, right.limit];
          if (before && after) expect([covers(before, after), right]).toEqual([true, right]);
          if (right.limit?.days === null) expect(right).toEqual(asked[index]);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('lowering the largest payment and the last day', () => {
  it.each<[scope: string, typed: LoweredLimit, granted: string]>([
    ['(7,5000)', { sum: '5000', each: '500', until: '' }, '(7,5000).each(500)'],
    ['(7,5000)', { sum: '2000', each: '5000', until: '' }, '(7,2000)'],
    ['(7,5000)', { sum: '2000', each: '3000' }, '(7,2000)'],
    ['(7,5000).each(500)', { sum: '300', each: '500' }, '(7,300)'],
    ['(7,5000).each(500)', { sum: '3000', each: '500' }, '(7,3000).each(500)'],
    ['(7,5000).each(500)', { sum: '5000', each: '99,5' }, '(7,5000).each(99.50)'],
    ['(7,5000).each(500.00)', { sum: '5000.0', each: '500' }, '(7,5000).each(500.00)'],
    ['(7,5000)', { sum: '5000', each: '5000', until: '2027-06-30' }, '(7,5000).until(2027-06-30)'],
    ['(7,5000).until(2027-06-30)', { sum: '5000', until: '2027-01-31' }, '(7,5000).until(2027-01-31)'],
    ['(7,5000).until(2027-06-30)', { sum: '5000', until: '2027-07-01' }, '(7,5000).until(2027-06-30)'],
    ['(7,5000).until(2027-06-30)', { sum: '10', until: '' }, '(7,10).until(2027-06-30)'],
    ['(7,5000).each(5000)', {}, '(7,5000).each(5000)'],
  ])('of limit%s to %j grants limit%s', (asked, typed, limit) => {
    const lowering = lowerLimits(parseScope(`payment-shop.limit${asked}`), new Map([[0, typed]]));
    expect(formatScope(lowering.rights ?? [])).toBe(`payment-shop.limit${limit}`);
    expect('isLower' in lowering && lowering.isLower).toBe(asked !== limit);
  });

  it('of a default limit writes it out', () => {
    const lowering = lowerLimits(parseScope('payment-shop'), new Map([[0, { sum: '3000', each: '100' }]]));
    expect(formatScope(lowering.rights ?? [])).toBe('payment-shop.limit(1,3000).each(100)');
  });

  it.each([
    ['2026-11-29T23:30:00Z', undefined, ['2027-11-29', '2026-12-29']],
    ['2027-01-31T12:00:00Z', undefined, ['2028-01-31', '2027-02-28']],
    ['2026-11-29T12:00:00Z', '2027-06-30', ['2026-12-29']],
    ['2026-11-29T12:00:00Z', '2026-12-29', []],
  ])('offers at %s, beside %s, the last days %j', (now, until, days) => {
    const limit = { ...rubles(7, '5'), ...(until && { until }) };
    const offered = earlierEnds(limit, tokenLifetimeFrom(new Date(now)));
    expect(offered.map(({ day }) => day)).toEqual(days);
  });
});

function cents(right: Right | undefined): bigint {
  const limit = right?.limit;
  return limit === undefined ? 0n : hundredths(limit);
}

/** A right without the sum of its limit. */
function withoutSum(right: Right): unknown {
  const { limit } = right;
  return limit === undefined ? right : { ...right, limit: limit.days };
}
