import type { RequestedAccess } from '../../flows/authorize/authorize.ts';
import type { Texts } from '../../languages/languages.ts';
import { type Limit, moneyOf, within } from '../../rules/common/money.ts';
import { moneySources } from '../../rules/scope/rightData.ts';
import type { MoneySource, Right } from '../../rules/scope/scope.ts';
import { differenceOf, type RightChange } from '../../rules/spending/difference.ts';
import { describeLimit, describeRight, describeSources, namesOfSources, type Words } from './describe.ts';

/** The changes against the live authorization that allowing replaces; null for none. */
export function describeChanges(
  { authorizationRequest: { rights }, earlier }: RequestedAccess,
  words: Words,
) {
  if (earlier === null) return null;
  const changes = differenceOf(earlier.rights, rights);
  const of = (some: readonly RightChange[]) => some.map((change) => describeChange(change, words));
  const others = changes.filter(({ change }) => change !== 'unchanged');
  return {
    changed: [
      ...of(others.filter(isOfMoney)),
      ...describeSourceChange(earlier.rights, rights, words),
      ...of(others.filter((change) => !isOfMoney(change) && change.change !== 'dropped')),
      ...of(others.filter(({ change }) => change === 'dropped')),
    ],
    unchanged: of(changes.filter(({ change }) => change === 'unchanged')),
  };
}

/** Money may be spent by it from now on, which is read first. */
function isOfMoney({ after }: RightChange): boolean {
  return after !== null;
}

function describeChange({ change, right, before, after }: RightChange, words: Words) {
  const texts = words.texts.request.changes;
  const [old, asked] = [before, after].map((limit) => limit && describeLimit(limit, words.texts));
  const isOther = old && asked && change !== 'unchanged';
  const only = asked ?? old;
  return {
    label: texts.labels[change],
    change,
    right: describeRight(right, words),
    limits: isOther
      ? [texts.before(old), texts.after(asked), ...describeInBoth(before, after, words.texts)]
      : only
        ? [only]
        : [],
  };
}

/** Both limits within each of two periods: sums of different periods don't compare. */
function describeInBoth(before: Limit | null, after: Limit | null, { formats, request }: Texts): string[] {
  if (!before?.days || !after?.days || before.days === after.days) return [];
  const amountIn = (limit: Limit, days: number) =>
    formats.amount(moneyOf(within(limit, days), limit.currency));
  return [before.days, after.days]
    .toSorted((one, other) => one - other)
    .map((days) => request.changes.within(days, amountIn(before, days), amountIn(after, days)));
}

/** Where the money comes from, if that is new or another. */
function describeSourceChange(earlier: readonly Right[], asked: readonly Right[], words: Words) {
  const { labels, before } = words.texts.request.changes;
  const [old, now] = [moneySources(earlier), moneySources(asked)];
  if (now.length === 0 || isSame(old, now)) return [];
  const change = old.length === 0 ? 'new' : 'changed';
  const right = describeSources(now, words);
  const limits = old.length === 0 ? [] : [before(namesOfSources(old, words))];
  return [{ label: labels[change], change, right, limits }];
}

function isSame(some: readonly MoneySource[], others: readonly MoneySource[]): boolean {
  return some.every((one) => others.includes(one)) && others.every((one) => some.includes(one));
}
