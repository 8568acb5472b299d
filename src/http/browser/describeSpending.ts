import type { AuthorizedClient, LiveAuthorization } from '../../flows/authorizations.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import { spends } from '../../rules/scope.ts';
import { type WorstCase, worstCase } from '../../rules/worstCase.ts';
import { describeLimit, type Words } from './describe.ts';

/** The most that a connection can spend, for example "At most RUB 3,000 in any 7 days". */
export function describeSpending(
  words: Words,
  { rights, isBlocked }: LiveAuthorization,
  language: Language,
): string {
  const worst = worstCase(rights);
  const isStopped = isBlocked && worst.kind !== 'none';
  return isStopped ? TEXTS[language].account.spending.nothingNow : describeMost(words, worst, language);
}

/**
 * What an application can spend by all its connections, as a line of its closed card. Each connection has budgets of its
 * own, as each right has, so theirs add up like those of one list of rights. There is no sum where some connections are on
 * other pages.
 */
export function describeTotalSpending(
  words: Words,
  { isBlocked, authorizations, live, orMore }: AuthorizedClient,
  language: Language,
): string {
  const { formats, account } = TEXTS[language];
  const { spending } = account;
  const areAllHere = live === authorizations.length && !orMore;
  const able = authorizations.filter(({ rights }) => spends(rights));
  const worst = worstCase(able.flatMap(({ rights }) => rights));
  if (worst.kind === 'none') return areAllHere ? spending.none : spending.noneHere;
  if (isBlocked) return spending.blocked;
  if (!areAllHere) return spending.some;
  if (able.length === 1) return spending.can(describeMost(words, worst, language));
  // One-time payments of several connections don't become one payment.
  if (worst.kind === 'once') return spending.togetherOnce(formats.amount(worst.amount, words.currency));
  return spending.together(describeMost(words, worst, language));
}

/** The most that can be spent by what was allowed before, for example "At most RUB 3,000 in any 7 days". */
export function describeMost({ currency }: Words, worst: WorstCase, language: Language): string {
  const { formats, account } = TEXTS[language];
  switch (worst.kind) {
    case 'none':
      return account.spending.nothing;
    case 'once':
      // "At most": the payment may have been made, and only the payment API knows.
      return account.spending.once(formats.amount(worst.amount, currency));
    case 'period':
      return describeLimit({ days: worst.days, sum: worst.amount }, currency, language);
  }
}
