import type {
  AuthorizedClient,
  LiveAuthorization,
  Spent,
  SpentByRight,
} from '../../flows/account/authorizations.ts';
import type { RequestedAccess } from '../../flows/authorize/authorize.ts';
import type { Texts } from '../../languages/languages.ts';
import { describeLimit, describeRight, namesOfSources } from '../../languages/rights.ts';
import { hundredths, type Limit, moneyOf, sumWithin } from '../../rules/common/money.ts';
import { rightKeyOf } from '../../rules/request/scopeRules.ts';
import { moneySources } from '../../rules/scope/rightData.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { differenceOf, type RightChange } from '../../rules/spending/difference.ts';
import { worstCase } from '../../rules/spending/worstCase.ts';
import type { PageLocale } from './describe.ts';

/** A connection's maximal spending, for example "At most RUB 3,000 in any 7 days". */
export function describeMaxSpending({ rights, isBlocked }: LiveAuthorization, texts: Texts): string {
  const worst = worstCase(rights);
  return isBlocked && worst !== null ? texts.account.spending.nothingNow : describeMost(worst, texts);
}

/** A line on an application's closed card: the sum of all its connections. */
export function describeTotalSpending({ isBlocked, spending: able }: AuthorizedClient, texts: Texts): string {
  const { spending } = texts.account;
  if (able?.length === 0) return spending.none;
  if (isBlocked) return spending.blocked;
  return able === null ? spending.some : spending.can({ most: describeCombinedLimit(able, texts) });
}

/** The maximal total spending of connections with these rights, each of which spends; phrased for within a sentence. */
export function describeCombinedLimit(connections: readonly (readonly Right[])[], texts: Texts): string {
  const { formats, account } = texts;
  const worst = worstCase(connections.flat());
  // One-time payments of several connections are not one payment.
  if (connections.length > 1 && worst?.days === null)
    return account.spending.togetherOnce({ amount: formats.amount(worst) });
  return formats.inSentence(describeMost(worst, texts));
}

function describeMost(worst: Limit | null, texts: Texts): string {
  const { formats, account } = texts;
  if (worst === null) return account.spending.nothing;
  // "At most": only the payment API knows if the payment was made.
  return worst.days === null
    ? account.spending.once({ amount: formats.amount(worst) })
    : describeLimit(worst, texts);
}

export type DescribedChange = ReturnType<typeof describeChange>;

/**
 * The changes against the live authorization that Allow replaces; null for none. `byRight` has those of the request's rights and,
 * by null, of the source of money, which may be implicit; it is empty if nothing changes.
 */
export function describeChanges({ authorizationRequest, earlier }: RequestedAccess, locale: PageLocale) {
  if (earlier === null) return null;
  const { rights } = authorizationRequest;
  const changes = differenceOf(earlier.rights, rights);
  const dropped = changes.filter(({ change }) => change === 'dropped');
  const described = changes.map((one) => {
    const spent = earlier.spent?.get(rightKeyOf(one.right));
    return [one.right, describeChange(one, spent, locale.texts)] as const;
  });
  const byRight = new Map<Right | null, DescribedChange>(described);
  const ofSource = describeSourceChange(earlier.rights, rights, locale);
  if (ofSource !== null) byRight.set(null, ofSource);
  if ([...byRight.values()].every(({ isSame }) => isSame)) byRight.clear();
  return { byRight, dropped: dropped.map(({ right }) => describeRight(right, locale)) };
}

/** A right's difference from the live authorization. `notes`: for example "Before: at most RUB 500 in any 24 hours" */
function describeChange({ change, before, after }: RightChange, spent: Spent | undefined, texts: Texts) {
  const { changes } = texts.request;
  const { inSentence } = texts.formats;
  const isSame = change === 'unchanged';
  const notes = [];
  if (!isSame && before && after)
    notes.push(
      changes.before({ limit: inSentence(describeLimit(before, texts)) }),
      ...describeInBoth(before, after, texts),
    );
  // What is used of a period counts for the new limit, too; a one-time payment is of its authorization.
  if (spent && before?.days && after?.days)
    notes.push(changes.used({ amount: texts.formats.amount({ sum: spent.used, currency: after.currency }) }));
  return { isSame, label: changes.labels[change], notes };
}

/** Both limits over each of two periods: sums of different periods don't compare. */
function describeInBoth(before: Limit, after: Limit, { formats, request }: Texts): string[] {
  if (!before.days || !after.days || before.days === after.days) return [];
  const amountIn = (limit: Limit, days: number) =>
    formats.amount(moneyOf(sumWithin(limit, days), limit.currency));
  return [before.days, after.days]
    .toSorted((one, other) => one - other)
    .map((days) =>
      request.changes.within({ days, before: amountIn(before, days), after: amountIn(after, days) }),
    );
}

/** Null if unchanged, or without spending. */
function describeSourceChange(earlier: readonly Right[], asked: readonly Right[], locale: PageLocale) {
  const { labels, before } = locale.texts.request.changes;
  const { inSentence } = locale.texts.formats;
  const [old, now] = [moneySources(earlier), moneySources(asked)];
  if (now.length === 0 || (old.length === now.length && now.every((one) => old.includes(one)))) return null;
  const isNew = old.length === 0;
  const notes = isNew ? [] : [before({ limit: inSentence(namesOfSources(old, locale)) })];
  return { isSame: false, label: isNew ? labels.new : labels.changed, notes };
}

/** What a right has spent of its limit, as a sentence and for a bar; null for nothing. */
export function describeSpent(
  right: Right | undefined,
  spentByRight: SpentByRight | undefined,
  { texts, timeZone }: PageLocale,
) {
  const { limit } = right ?? {};
  const spent = right && spentByRight?.get(rightKeyOf(right));
  if (limit === undefined || spent === undefined) return null;
  const { formats, account } = texts;
  const { used, oldest, freeAgain } = spent;
  const amountOf = (sum: string) => formats.amount({ sum, currency: limit.currency });
  const parts = [account.spent.used({ amount: amountOf(used), limit: amountOf(limit.sum) })];
  if (oldest !== null && freeAgain !== null) {
    const day = formats.day(freeAgain, timeZone);
    const isAll = hundredths({ sum: oldest }) === hundredths({ sum: used });
    parts.push(
      isAll ? account.spent.free({ day }) : account.spent.partFree({ amount: amountOf(oldest), day }),
    );
  }
  return { used: Number(used), most: Number(limit.sum), text: parts.join(' · ') };
}
