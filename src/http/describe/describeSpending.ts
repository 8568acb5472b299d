import type { AuthorizedClient, LiveAuthorization } from '../../flows/account/authorizations.ts';
import { inSentence } from '../../languages/formats.ts';
import type { Texts } from '../../languages/languages.ts';
import { describeLimit } from '../../languages/rights.ts';
import type { Limit } from '../../rules/common/money.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { worstCase } from '../../rules/spending/worstCase.ts';

/** A connection's maximal spending, for example "At most RUB 3,000 in any 7 days". */
export function describeSpending({ rights, isBlocked }: LiveAuthorization, texts: Texts): string {
  const worst = worstCase(rights);
  const isStopped = isBlocked && worst !== null;
  return isStopped ? texts.account.spending.nothingNow : describeMost(worst, texts);
}

/** A line on an application's closed card: the sum of all its connections. */
export function describeTotalSpending({ isBlocked, spending: able }: AuthorizedClient, texts: Texts): string {
  const { spending } = texts.account;
  if (able?.length === 0) return spending.none;
  if (isBlocked) return spending.blocked;
  return able === null ? spending.some : spending.can(describeTogether(able, texts));
}

/** The maximal total spending of connections with these rights, each of which spends; phrased for within a sentence. */
export function describeTogether(connections: readonly (readonly Right[])[], texts: Texts): string {
  const { formats, account } = texts;
  const worst = worstCase(connections.flat());
  // One-time payments of several connections are not one payment.
  if (connections.length > 1 && worst?.days === null)
    return account.spending.togetherOnce(formats.amount(worst));
  return inSentence(describeMost(worst, texts));
}

function describeMost(worst: Limit | null, texts: Texts): string {
  const { formats, account } = texts;
  if (worst === null) return account.spending.nothing;
  // "At most": only the payment API knows if the payment was made.
  return worst.days === null ? account.spending.once(formats.amount(worst)) : describeLimit(worst, texts);
}
