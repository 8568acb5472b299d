import type { RequestedAccess } from '../../flows/authorize.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import { decimalOf } from '../../rules/ceiling.ts';
import { differenceOf, type RightChange } from '../../rules/difference.ts';
import { moneySources } from '../../rules/rightData.ts';
import type { MoneySource, PaymentLimit, Right } from '../../rules/scope.ts';
import { spendable } from '../../rules/worstCase.ts';
import { describeLimit, describeRight, describeSources, namesOfSources, type Words } from './describe.ts';
import type { DescribedChange, DescribedChanges } from './pages.ts';

/** What allowing changes; null where it takes the place of no live authorization. */
export function describeChanges(
  words: Words,
  { authorizationRequest: { client, rights }, earlier }: RequestedAccess,
  language: Language,
): DescribedChanges | null {
  if (earlier === null) return null;
  const { formats, request } = TEXTS[language];
  const { replaces, lastUsed, neverUsed } = request.changes;
  const changes = differenceOf(earlier.rights, rights);
  const of = (some: readonly RightChange[]) => some.map((change) => describeChange(words, change, language));
  const others = changes.filter(({ change }) => change !== 'unchanged');
  return {
    replaces: replaces(client.name, formats.day(earlier.confirmedAt, words.timeZone)),
    lastUse: earlier.lastUsedOn === null ? neverUsed : lastUsed(formats.utcDay(earlier.lastUsedOn)),
    changed: [
      ...of(others.filter(isOfMoney)),
      ...describeSourceChange(words, earlier.rights, rights, language),
      ...of(others.filter((change) => !isOfMoney(change) && change.change !== 'dropped')),
      ...of(others.filter(({ change }) => change === 'dropped')),
    ],
    unchanged: of(changes.filter(({ change }) => change === 'unchanged')),
  };
}

/** Whether money may be spent by it from now on, which is read first. */
function isOfMoney({ after }: RightChange): boolean {
  return after !== null;
}

function describeChange(
  words: Words,
  { change, right, before, after }: RightChange,
  language: Language,
): DescribedChange {
  const texts = TEXTS[language].request.changes;
  const [old, asked] = [before, after].map(
    (limit) => limit && describeLimit(limit, words.currency, language),
  );
  const isOther = old && asked && change !== 'unchanged';
  const only = asked ?? old;
  return {
    label: texts.labels[change],
    change,
    right: describeRight(right, words, language),
    limits: isOther
      ? [texts.before(old), texts.after(asked), ...describeInBoth(words, before, after, language)]
      : only
        ? [only]
        : [],
  };
}

/** What two limits of different periods come to in the shorter and in the longer of them: a sum alone says little of the other. */
function describeInBoth(
  { currency }: Words,
  before: PaymentLimit | null,
  after: PaymentLimit | null,
  language: Language,
): string[] {
  if (!before?.days || !after?.days || before.days === after.days) return [];
  const { formats, request } = TEXTS[language];
  const within = (limit: PaymentLimit, days: number) =>
    formats.amount(decimalOf(spendable(limit, days)), currency);
  return [before.days, after.days]
    .toSorted((one, other) => one - other)
    .map((days) => request.changes.within(days, within(before, days), within(after, days)));
}

/** Where the money comes from, if that is new or another. */
function describeSourceChange(
  words: Words,
  earlier: readonly Right[],
  asked: readonly Right[],
  language: Language,
): DescribedChange[] {
  const { labels, before } = TEXTS[language].request.changes;
  const [old, now] = [moneySources(earlier), moneySources(asked)];
  if (now.length === 0 || isSame(old, now)) return [];
  const change = old.length === 0 ? 'new' : 'changed';
  const right = describeSources(now, words, language);
  const limits = old.length === 0 ? [] : [before(namesOfSources(old, language))];
  return [{ label: labels[change], change, right, limits }];
}

function isSame(some: readonly MoneySource[], others: readonly MoneySource[]): boolean {
  return some.every((one) => others.includes(one)) && others.every((one) => some.includes(one));
}
