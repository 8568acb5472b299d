import type { AuthorizedClient, LiveAuthorization } from '../../flows/authorizations.ts';
import { inSentence } from '../../languages/formats.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import { type Right, spends } from '../../rules/scope.ts';
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
  const { spending } = TEXTS[language].account;
  const areAllHere = live === authorizations.length && !orMore;
  const able = authorizations.map(({ rights }) => rights).filter(spends);
  if (able.length === 0) return areAllHere ? spending.none : spending.noneHere;
  if (isBlocked) return spending.blocked;
  if (!areAllHere) return spending.some;
  return spending.can(describeTogether(words, able, language));
}

/** The most that connections with these rights, each of which spends, can spend together; as it goes on within a sentence. */
export function describeTogether(
  words: Words,
  connections: readonly (readonly Right[])[],
  language: Language,
): string {
  const { formats, account } = TEXTS[language];
  const worst = worstCase(connections.flat());
  const most = inSentence(describeMost(words, worst, language));
  if (connections.length === 1) return most;
  // One-time payments of several connections don't become one payment.
  if (worst.kind === 'once')
    return account.spending.togetherOnce(formats.amount(worst.amount, words.currency));
  return account.spending.together(most);
}

/** The most that one connection can spend, for example "At most RUB 3,000 in any 7 days". */
function describeMost({ currency }: Words, worst: WorstCase, language: Language): string {
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
