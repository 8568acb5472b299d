/** What is written differently in each language: numbers, amounts, days, lists. All of it by `Intl`. */
export interface Formats {
  /** A whole number, for example `1,000`. */
  number(value: number): string;
  /** An exact decimal with its currency, by ISO 4217. It never becomes a float: 123456789012.34 stays what it is. */
  amount(sum: string, currency: string): string;
  /** A currency by itself, as beside an amount: `RUB` or `₽`. */
  currency(currency: string): string;
  /** An exact decimal as one types it, for example `9000.50`. */
  plain(sum: string): string;
  /** A day in UTC, for example `20 November 2029`. */
  day(time: Date): string;
  /** A day and a time in UTC, for example `20 November 2029 at 14:05 UTC`. */
  time(time: Date): string;
  /** A time of day in UTC, for example `14:05 UTC`. */
  clock(time: Date): string;
  /** One of several, for example `a, b or c`. */
  oneOf(items: readonly string[]): string;
}

/** The forms of a phrase by the plural categories of its language, as CLDR names them. `#` stands for the number. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** Two decimals, or none. */
const DECIMALS = {
  trailingZeroDisplay: 'stripIfInteger',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
} as const;

/** @param tag BCP 47 @param currencyDisplay how readers of the language know currencies */
export function formatsOf(tag: string, currencyDisplay: 'code' | 'symbol'): Formats {
  const numbers = new Intl.NumberFormat(tag);
  const plain = new Intl.NumberFormat(tag, { ...DECIMALS, useGrouping: false });
  const days = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' });
  const times = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  const clocks = new Intl.DateTimeFormat(tag, { timeStyle: 'short', timeZone: 'UTC' });
  const lists = new Intl.ListFormat(tag, { type: 'disjunction' });
  /** Making a format takes a hundred times longer than using it. */
  const amounts = new Map<string, Intl.NumberFormat>();
  function amountsIn(currency: string): Intl.NumberFormat {
    const format = amounts.get(currency) ?? amountFormat(tag, currency, currencyDisplay);
    amounts.set(currency, format);
    return format;
  }
  return {
    number: (value) => numbers.format(value),
    // Node formats decimal strings exactly; the type of `format` here knows numbers only.
    amount: (sum, currency) => amountsIn(currency).format(sum as `${number}`),
    currency: (currency) =>
      amountsIn(currency)
        .formatToParts(0)
        .find(({ type }) => type === 'currency')?.value ?? currency,
    plain: (sum) => plain.format(sum as `${number}`),
    day: (time) => days.format(time),
    time: (time) => `${times.format(time)} UTC`,
    clock: (time) => `${clocks.format(time)} UTC`,
    oneOf: (items) => lists.format(items),
  };
}

function amountFormat(tag: string, currency: string, currencyDisplay: 'code' | 'symbol'): Intl.NumberFormat {
  return new Intl.NumberFormat(tag, {
    style: 'currency',
    currency,
    currencyDisplay,
    ...DECIMALS,
  });
}

/** A phrase with a number in it, in the form that the number takes. @param tag BCP 47 */
export function pluralOf(tag: string): (count: number, forms: PluralForms) => string {
  const rules = new Intl.PluralRules(tag);
  const numbers = new Intl.NumberFormat(tag);
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count));
}

/** A text inside a sentence that begins with a capital by itself. @param tag BCP 47 */
export function midSentenceOf(tag: string): (text: string) => string {
  return (text) => text.charAt(0).toLocaleLowerCase(tag) + text.slice(1);
}

const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/**
 * A sentence with names in it. Each is isolated (Unicode's bidirectional algorithm), so that a Hebrew or Arabic name doesn't
 * change the order of the words around it; templates write `<bdi>` for it.
 */
export function say(sentence: TemplateStringsArray, ...names: readonly string[]): string {
  const isolated = names.map(
    (name) => FIRST_STRONG_ISOLATE + name.replaceAll(/[\u2068\u2069]/g, '') + POP_ISOLATE,
  );
  return String.raw({ raw: sentence }, ...isolated);
}

/** Escaped text as HTML, with `<bdi>` for what {@link say} isolated. */
export function isolatesAsHtml(escaped: string): string {
  return escaped.replaceAll(FIRST_STRONG_ISOLATE, '<bdi>').replaceAll(POP_ISOLATE, '</bdi>');
}
