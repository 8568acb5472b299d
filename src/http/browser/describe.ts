import type { Context } from '../../flows/context.ts';
import { BUILT_IN_CATALOGUE } from '../../languages/catalogue.ts';
import { type Language, TEXTS, type Texts } from '../../languages/languages.ts';
import { nameOfTarget } from '../../rules/directory.ts';
import { moneySources } from '../../rules/rightData.ts';
import {
  effectiveLimit,
  type MoneySource,
  type PaymentLimit,
  type Right,
  spends,
} from '../../rules/scope.ts';
import { targetParts } from '../../rules/targetFormat.ts';

/** A right in plain words: what the application may do and, where it spends, how much and how often. */
export interface DescribedRight {
  /** The sentence, in two parts around the target if it has one. */
  readonly before: string;
  /** The application's own words, which a page sets apart from ours, a number in its groups; null for none. */
  readonly target: readonly string[] | null;
  /** Whose number that is, where the operator's directory says it. */
  readonly targetName: string | null;
  /** What stands around the target. */
  readonly quotes: Texts['quotes'];
  readonly after: string;
  readonly limit: string | null;
  /** Whether it spends money. */
  readonly spending: boolean;
  /** Whether it says no more than where the money comes from: a fact, and no power. */
  readonly isSource: boolean;
}

/** What the words of rights and days depend on, beside the language. */
export type Words = Pick<Context, 'catalogue' | 'currency' | 'directory' | 'timeZone'>;

/**
 * The rights of a scope as the user reads them (contract 1.2: "sees the requested rights and the payment limits"). Defaults
 * are shown like what was written: the default limit, and the wallet as the source of money where none is named.
 */
export function describeRights(rights: readonly Right[], words: Words, language: Language): DescribedRight[] {
  const named = rights.some((right) => right.name === 'money-source');
  const all = spends(rights) && !named ? [...rights, sourceRight(moneySources(rights))] : rights;
  return all.map((right) => describeRight(right, words, language));
}

function sourceRight(sources: readonly MoneySource[]): Right {
  return { name: 'money-source', sources };
}

/** Where the money comes from, as a right. */
export function describeSources(
  sources: readonly MoneySource[],
  words: Words,
  language: Language,
): DescribedRight {
  return describeRight(sourceRight(sources), words, language);
}

/** Sources of money in plain words, for example "your wallet or your linked card". */
export function namesOfSources(names: readonly MoneySource[], language: Language): string {
  const { sources, formats } = TEXTS[language];
  return formats.oneOf(names.map((name) => sources[name]));
}

/** One right, whatever stands beside it. */
export function describeRight(right: Right, words: Words, language: Language): DescribedRight {
  const limit = effectiveLimit(right);
  const { before, target, after } = sentenceOf(right, words, language);
  return {
    before,
    target,
    targetName: nameOfTarget(words.directory, right)?.[language] ?? null,
    limit: limit === undefined ? null : describeLimit(limit, words.currency, language),
    quotes: TEXTS[language].quotes,
    after,
    spending: limit !== undefined,
    isSource: right.name === 'money-source',
  };
}

type Sentence = Pick<DescribedRight, 'before' | 'target' | 'after'>;

function sentenceOf(right: Right, { catalogue }: Words, language: Language): Sentence {
  const { targets } = TEXTS[language];
  // A grant may hold a right that the operator's catalogue does not offer any more.
  const sentence = (catalogue[right.name] ?? BUILT_IN_CATALOGUE[right.name])[language];
  const [before = '', after = ''] = sentence.split('{target}', 2);
  switch (right.name) {
    case 'payment.to-account':
      return { before: `${before}${targets[right.type]} `, target: targetParts(right), after };
    case 'money-source':
      return { before: before + namesOfSources(right.sources, language) + after, target: null, after: '' };
    default: {
      const target = targetParts(right);
      return target === null ? { before: sentence, target, after: '' } : { before, target, after };
    }
  }
}

/** A limit as an amount and a period, for example "At most RUB 3,000 in any 7 days". */
export function describeLimit({ days, sum }: PaymentLimit, currency: string, language: Language): string {
  const { limits, formats } = TEXTS[language];
  const amount = formats.amount(sum, currency);
  return days === null ? limits.once(amount) : limits.perDays(amount, days);
}

/** From here on a wait is told in minutes. */
const MINUTES_FROM_SECONDS = 90;

/** A wait in plain words, for example "3 minutes". */
export function describeWait(seconds: number, { wait }: Texts): string {
  return seconds > MINUTES_FROM_SECONDS ? wait.minutes(Math.ceil(seconds / 60)) : wait.seconds(seconds);
}

/** When a wait of minutes is over, for example "14:05 UTC"; null for a shorter one. */
export function timeAfter(
  seconds: number,
  { formats }: Texts,
  timeZone: string,
  now = Date.now(),
): string | null {
  if (seconds <= MINUTES_FROM_SECONDS) return null;
  const minute = 60_000;
  return formats.clock(new Date(Math.ceil((now + seconds * 1000) / minute) * minute), timeZone);
}

/** Where a redirect URI leads: its host, or the scheme of an application on the device. */
export function describeTarget(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === '' || !/^https?:$/.test(protocol) ? protocol.slice(0, -1) : host;
}
