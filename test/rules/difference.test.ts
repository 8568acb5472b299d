import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Limit } from '../../src/rules/common/money.ts';
import { formatScope, type Right } from '../../src/rules/scope/scope.ts';
import { differenceOf } from '../../src/rules/spending/difference.ts';
import { forAny, rights } from './arbitraries.ts';
import { greedy, isWithin, smallPeriod } from './payments.ts';
import { parseScope } from './rubles.ts';

const between = (earlier: string, asked: string) =>
  differenceOf(parseScope(earlier), parseScope(asked)).map(
    ({ change, right, before, after }) =>
      `${change} ${formatScope([right])}${written(before)}${written(after)}`,
  );
const written = (limit: Limit | null) => (limit === null ? ' -' : ` ${limit.days ?? 'once'}:${limit.sum}`);

const changeOf = (before: Limit, after: Limit) =>
  differenceOf([{ name: 'payment-shop', limit: before }], [{ name: 'payment-shop', limit: after }])[0]
    ?.change;

describe('the difference between an earlier authorization and a request', () => {
  it.each([
    ['account-info', 'account-info', ['unchanged account-info - -']],
    [
      'operation-history account-info',
      'incoming-transfers account-info',
      ['new incoming-transfers - -', 'unchanged account-info - -', 'dropped operation-history - -'],
    ],
    ['points', 'points.limit(7,5)', ['changed points.limit(7,5) - 7:5']],
    ['points.limit(7,5)', 'points', ['changed points 7:5 -']],
    [
      'payment.to-pattern("1").limit(7,5) money-source("card")',
      'payment.to-pattern("2").limit(7,5) money-source("card")',
      ['new payment.to-pattern("2").limit(7,5) - 7:5', 'dropped payment.to-pattern("1").limit(7,5) 7:5 -'],
    ],
    [
      'payment.to-account("1","phone") money-source("card")',
      'payment.to-account("1") money-source("card")',
      ['new payment.to-account("1") - 1:3000', 'dropped payment.to-account("1","phone") 1:3000 -'],
    ],
  ])('from %s to %s, with the old and the new limit: %j', (earlier, asked, changes) => {
    expect(between(earlier, asked)).toEqual(changes);
  });

  it.each([
    ['payment.to-pattern("12")', 'payment.to-pattern("１２")'],
    ['payment.to-account("fi@x","email")', 'payment.to-account("ﬁ@x","email")'],
    ['payment.to-account("1","account")', 'payment.to-account("1")'],
    ['payment-shop', 'payment-shop.limit(1,3000)'],
    ['payment-shop.limit(1,3000.00)', 'payment-shop'],
    ['payment-shop.limit(,5.5)', 'payment-shop.limit(,5.50)'],
    ['payment-shop money-source("card")', 'payment-shop'],
    ['payment-shop', 'payment-shop money-source("wallet","card")'],
  ])('from %s to %s is “unchanged”', (earlier, asked) => {
    const changes = differenceOf(parseScope(earlier), parseScope(asked)).map(({ change }) => change);
    expect(new Set(changes)).toEqual(new Set(['unchanged']));
  });

  it.each([
    ['30,5000', '7,5000', 'raised'],
    ['7,5000', '30,5000', 'lowered'],
    ['1,10', '2,20', 'raised'], // 20 at once, but never more than 20 in two days
    ['1,10', '2,19', 'changed'],
    ['1,3000', '30,45000', 'changed'],
    [',5000', ',9000', 'raised'],
    [',9000', ',5000', 'lowered'],
    ['1,5000', ',5000', 'changed'],
    ['7,5000', '7,5000).each(500', 'lowered'],
    ['7,5000).each(500', '7,5000', 'raised'],
    ['7,5000', '7,5000).each(5000.00', 'unchanged'],
    ['7,5000).each(500', '7,4000).each(600', 'changed'],
    ['7,5000).each(500', '7,400', 'lowered'],
    ['7,5000', '7,5000).until(2027-06-30', 'lowered'],
    ['7,5000).until(2027-06-30', '7,5000).until(2027-07-01', 'raised'],
    ['7,5000).until(2027-06-30', '7,5000', 'raised'],
    ['7,5000).until(2027-06-30', '7,6000).until(2027-01-31', 'changed'],
    [',5000).until(2027-06-30', ',5000).until(2027-06-30', 'unchanged'],
    [',5000).until(2027-06-30', ',6000).until(2027-06-30', 'raised'],
  ])('from limit(%s) to limit(%s) is “%s”', (before, after, change) => {
    const changes = between(`payment-shop.limit(${before})`, `payment-shop.limit(${after})`);
    expect(changes[0]?.split(' ', 1)).toEqual([change]);
  });
});

const limits = (list: readonly Right[]) => list.map((right) => right.limit ?? null);
/** Two lists of rights that may have some in common. */
const twoLists = fc
  .tuple(rights, rights)
  .chain(([one, other]) =>
    fc.tuple(fc.shuffledSubarray([...one, ...other]), fc.shuffledSubarray([...one, ...other])),
  );
const others = (list: readonly Right[]) => list.filter(({ name }) => name !== 'money-source');

it('the difference of two lists has every right of both once, in order, except money-source', () => {
  forAny(twoLists, ([earlier, asked]) => {
    const changes = differenceOf(earlier, asked);
    const ofAsked = changes.filter(({ change }) => change !== 'dropped');
    expect(changes.slice(0, ofAsked.length)).toEqual(ofAsked);
    expect(ofAsked.map(({ right }) => right)).toEqual(others(asked));
    expect(ofAsked.map(({ after }) => after)).toEqual(limits(others(asked)));
    const ofEarlier = changes.filter(({ change }) => change !== 'new');
    expect(ofEarlier.length).toBe(others(earlier).length);
    const gone = changes.filter(({ change }) => change === 'dropped').map(({ right }) => right);
    const left = others(earlier).filter((right) => gone.includes(right));
    expect(gone).toEqual(left);
  });
});

it('limits are compared by the payments they permit: raised, lowered, unchanged or changed', () => {
  forAny(smallPeriod, smallPeriod, (before, after) => {
    const covers = isWithin(after, greedy(before, 7));
    const isCovered = isWithin(before, greedy(after, 7));
    const expected = covers ? (isCovered ? 'unchanged' : 'raised') : isCovered ? 'lowered' : 'changed';
    expect(changeOf(before, after)).toBe(expected);
  });
});
