import type { AuthorizedClient, LiveAuthorization } from '../../flows/account/authorizations.ts';
import { inSentence } from '../../languages/formats.ts';
import type { Texts } from '../../languages/languages.ts';
import type { Limit } from '../../rules/common/money.ts';
import { type Right, spends } from '../../rules/scope/scope.ts';
import { worstCase } from '../../rules/spending/worstCase.ts';
import { describeLimit } from './describe.ts';

/** A connection's maximal spending, for example "At most RUB 3,000 in any 7 days". */
export function describeSpending({ rights, isBlocked }: LiveAuthorization, texts: Texts): string {
  const worst = worstCase(rights);
  const isStopped = isBlocked && worst !== null;
  return isStopped ? texts.account.spending.nothingNow : describeMost(worst, texts);
}

/** A line on an application's closed card: the sum of its connections, unless some are on other pages. */
export function describeTotalSpending(
  { isBlocked, authorizations, live, orMore }: AuthorizedClient,
  texts: Texts,
): string {
  const { spending } = texts.account;
  const areAllHere = live === authorizations.length && !orMore;
  const able = authorizations.map(({ rights }) => rights).filter(spends);
  if (able.length === 0) return areAllHere ? spending.none : spending.noneHere;
  if (isBlocked) return spending.blocked;
  if (!areAllHere) return spending.some;
  return spending.can(describeTogether(able, texts));
}

/** The maximal total spending of connections with these rights, each of which spends; phrased for within a sentence. */
export function describeTogether(connections: readonly (readonly Right[])[], texts: Texts): string {
  const { formats, account } = texts;
  const worst = worstCase(connections.flat());
  const most = inSentence(describeMost(worst, texts));
  if (connections.length === 1) return most;
  // One-time payments of several connections are not one payment.
  if (worst?.days === null) return account.spending.togetherOnce(formats.amount(worst));
  return account.spending.together(most);
}

function describeMost(worst: Limit | null, texts: Texts): string {
  const { formats, account } = texts;
  if (worst === null) return account.spending.nothing;
  // "At most": only the payment API knows if the payment was made.
  return worst.days === null ? account.spending.once(formats.amount(worst)) : describeLimit(worst, texts);
}
