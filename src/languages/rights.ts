import type { Limit } from '../rules/common/money.ts';
import { nameOfTarget, type TargetNames } from '../rules/face/directory.ts';
import { moneySources } from '../rules/scope/rightData.ts';
import type { BuiltInRightName, MoneySource } from '../rules/scope/rights.ts';
import { hasSpendingRight, type Right } from '../rules/scope/scope.ts';
import { targetParts } from '../rules/scope/targetFormat.ts';
import { BUILT_IN_CATALOGUE, type Catalogue } from './catalogue.ts';
import { type Language, type Texts, textIn, withValues } from './languages.ts';

export type DescribedRight = ReturnType<typeof describeRight>;

/** A language with its texts, and the operator's own words for rights and targets. */
export interface RightTexts {
  readonly catalogue: Catalogue;
  readonly directory: TargetNames;
  readonly language: Language;
  readonly texts: Texts;
}

/** Contract 1.2: "sees the requested rights and the payment limits". Default limits and sources are shown like written ones. */
export function describeRights(rights: readonly Right[], locale: RightTexts): DescribedRight[] {
  const named = rights.some((right) => right.name === 'money-source');
  const source: Right = { name: 'money-source', sources: moneySources(rights) };
  const isShown = hasSpendingRight(rights) && !named && locale.catalogue.has('money-source');
  const all = isShown ? [...rights, source] : rights;
  return all.map((right) => describeRight(right, locale));
}

/** For example "your wallet or your linked card". */
export function namesOfSources(names: readonly MoneySource[], locale: RightTexts): string {
  const { catalogue, language, texts } = locale;
  const own = catalogue.get('money-source')?.sources;
  return texts.formats.oneOf(names.map((name) => (own ? textIn(own[name], language) : texts.sources[name])));
}

/** One right: the application's permission and, if it spends, its limit. */
export function describeRight(right: Right, locale: RightTexts) {
  const { limit } = right;
  const name = nameOfTarget(locale.directory, right);
  const { before, target, after } = sentenceOf(right, locale);
  return {
    before,
    target,
    after,
    targetName: name && textIn(name, locale.language),
    limit: limit === undefined ? null : describeLimit(limit, locale.texts),
    quotes: locale.texts.quotes,
    spending: limit !== undefined,
    /** The source of the money: a fact, not a power. */
    isSource: right.name === 'money-source',
  };
}

/** The sentence around a target: the application's words, set apart from ours; digits of a number are grouped. */
function sentenceOf(right: Right, locale: RightTexts) {
  const { catalogue, language, texts } = locale;
  const { name, type, sources } = right;
  // A grant may contain a right that the operator's catalogue no longer offers.
  const own = catalogue.get(name)?.text;
  const said = own
    ? textIn(own, language)
    : (builtInSentence(name, texts) ?? texts.quotes.open + name + texts.quotes.close);
  const sentence = right.target === undefined || said.includes('{target}') ? said : `${said} {target}`;
  const [before = '', after = ''] = sentence.split('{target}', 2);
  if (sources !== undefined)
    return { before: before + namesOfSources(sources, locale) + after, target: null, after: '' };
  // An operator's sentence says itself what the number of an account is.
  const isPlain = type === undefined || (type === 'account' && !BUILT_IN_CATALOGUE.has(name));
  const kind = isPlain ? '' : `${texts.targets[type]} `;
  return { before: before + kind, target: targetParts(right), after };
}

/** Undefined for a right that is not built in. */
export function builtInSentence(name: string, { rights }: Texts): string | undefined {
  if (!BUILT_IN_CATALOGUE.has(name)) return undefined;
  return withValues(rights[name as BuiltInRightName], { target: '{target}' });
}

/** For example "At most RUB 3,000 in any 7 days, RUB 500 in one payment, until 30 June 2027". */
export function describeLimit(limit: Limit, { limits, formats }: Texts): string {
  const { days, each, until, currency } = limit;
  const amount = formats.amount(limit);
  const inAll = days === null ? limits.once({ amount }) : limits.perDays({ amount, days });
  const within =
    each === undefined
      ? inAll
      : limits.withLargest({ limit: inAll, amount: formats.amount({ sum: each, currency }) });
  return until === undefined ? within : limits.withEnd({ limit: within, day: formats.utcDay(until) });
}

/** For example "3 minutes"; up to a minute and a half in seconds. */
export function describeWait(seconds: number, { wait }: Texts): string {
  return seconds > 90 ? wait.minutes({ minutes: Math.ceil(seconds / 60) }) : wait.seconds({ seconds });
}
