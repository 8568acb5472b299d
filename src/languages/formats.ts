import { lazy, memoize } from '../rules/common/memoize.ts';
import type { Money } from '../rules/common/money.ts';

const DECIMALS = {
  trailingZeroDisplay: 'stripIfInteger',
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
} as const;

export type Formats = ReturnType<typeof formatsOf>;

const BELOW_200 = Array.from({ length: 200 }, (_, number) => number);

/** Scripts that are written from right to left. */
const RIGHT_TO_LEFT = ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg'];

/** In which a language is written. */
export const directionOf = memoize((locale: string) => {
  const { script = '' } = new Intl.Locale(locale).maximize();
  return RIGHT_TO_LEFT.includes(script) ? 'rtl' : 'ltr';
});

/** The choices that a file of texts makes for its language; the first is usual. */
export const FORMAT_CHOICES = { currency: ['code', 'symbol'], inSentence: ['lower', 'asWritten'] } as const;

export type FormatChoices = {
  readonly [Name in keyof typeof FORMAT_CHOICES]: (typeof FORMAT_CHOICES)[Name][number];
};

/** Numbers, amounts, days and lists in a language. @param locale BCP 47 */
export function formatsOf(locale: string, choices: FormatChoices) {
  const currencyDisplay = choices.currency;
  // The digits in which sums are typed.
  const tag = `${locale}-u-nu-latn`;
  const direction = directionOf(locale);
  const numbers = lazy(() => new Intl.NumberFormat(tag));
  const plurals = lazy(() => new Intl.PluralRules(tag));
  const plain = lazy(() => new Intl.NumberFormat(tag, { ...DECIMALS, useGrouping: false }));
  const lists = lazy(() => new Intl.ListFormat(tag, { type: 'disjunction' }));
  const listOf = memoize((lines: string) => lists().format(lines.split('\n')));
  const wholeLists = lazy(() => new Intl.ListFormat(tag, { type: 'conjunction' }));
  const currencies = memoize(
    (currency: string) =>
      new Intl.NumberFormat(tag, { style: 'currency', currency, currencyDisplay, ...DECIMALS }),
  );
  // Node formats the decimal exactly; the type of `format` here allows only numbers.
  const amountsIn = memoize((currency: string) =>
    memoize((sum: string) => currencies(currency).format(sum as `${number}`)),
  );
  const calendarIn = memoize((timeZone: string) => calendarOf(tag, timeZone));
  return {
    direction,
    /** The numbers below 200 of a CLDR category, which the last two digits decide. */
    numbersOf: memoize((category: string) =>
      BELOW_200.filter((number) => plurals().select(number) === category),
    ),
    /** The CLDR categories of numbers that the language has. */
    pluralCategories: lazy(() => plurals().resolvedOptions().pluralCategories),
    /** An address or the like, which is written from left to right everywhere. */
    code: (text: string) => (direction === 'rtl' ? isolated(text) : text),
    number: (value: number) => numbers().format(value),
    /** The CLDR category of a number, such as `one` or `few`. */
    plural: (value: number) => plurals().select(value),
    amount: ({ sum, currency }: Money) => amountsIn(currency)(sum),
    /** A currency without an amount: `RUB` or `₽`. */
    currency: (currency: string) => partOf(currencies(currency).formatToParts(0), 'currency') ?? currency,
    /** An exact decimal as typed, for example `9000.50`. */
    plain: (sum: string) => plain().format(sum as `${number}`),
    /** The day in a time zone (an IANA name), for example `20 November 2029`. */
    day: (time: Date, timeZone: string) => calendarIn(timeZone).day(time),
    /** The same with the time, for example `20 November 2029 at 14:05 UTC`, or `at 17:05 GMT+3`. */
    time: (time: Date, timeZone: string) => calendarIn(timeZone).time(time),
    /** The time of day without the zone, for example `14:05`. */
    hour: (time: Date, timeZone: string) => calendarIn(timeZone).hour(time),
    /** The time zone's name all year, for example `UTC` or `Moscow Standard Time`. */
    zone: (timeZone: string) => calendarIn(timeZone).zone,
    /** A UTC day, the same for all readers. @param day for example `2029-11-20` */
    utcDay: (day: string) => calendarIn('UTC').day(new Date(day)),
    /** Alternatives, for example `a, b or c`. */
    oneOf: (items: readonly string[]) => listOf(items.join('\n')),
    /** For example `a, b and c`. */
    allOf: (items: readonly string[]) => wholeLists().format(items),
    /** A text as it continues after a colon or within a sentence, for example "at most RUB 500 a day". */
    inSentence: (text: string) =>
      choices.inSentence === 'asWritten'
        ? text
        : text.replace(/^\p{Lu}(?!\p{Lu})/u, (letter) => letter.toLocaleLowerCase(locale)),
  };
}

/** Offsets between time zones are multiples of this (since 1972). */
const QUARTER_HOUR_MS = 15 * 60_000;

function calendarOf(tag: string, timeZone: string) {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(tag, { timeZone, ...options });
  const days = format({ dateStyle: 'long' });
  // A short name such as `CEST` marks summer time; `Intl` doesn't include it in a style.
  const zones = format({ timeZoneName: 'short' });
  const zoneOf = (time: Date, by = zones) => partOf(by.formatToParts(time), 'timeZoneName') ?? '';
  const times = format({ dateStyle: 'long', timeStyle: 'short' });
  const hours = format({ timeStyle: 'short' });
  const dayIn = memoize((quarter: number) => unbroken(days.format(quarter * QUARTER_HOUR_MS)));
  const now = new Date();
  return {
    day: (time: Date) => dayIn(Math.floor(time.getTime() / QUARTER_HOUR_MS)),
    // The day and the time may stand on two lines.
    time: (time: Date) =>
      `${unbroken(times.format(time)).replace(/\u00a0(?=\p{L}+\u00a0\d+:)/u, ' ')} ${zoneOf(time)}`,
    hour: (time: Date) => hours.format(time),
    zone: zoneOf(now) === 'UTC' ? 'UTC' : zoneOf(now, format({ timeZoneName: 'longGeneric' })),
  };
}

function partOf(parts: readonly { readonly type: string; readonly value: string }[], wanted: string) {
  return parts.find(({ type }) => type === wanted)?.value;
}

/** A text whose numbers stay on one line with the words around them: "7 days", "26 November 2029". */
function unbroken(text: string): string {
  return text.replaceAll(/(?<=\d) (?=\p{L})|(?<=\p{L}) (?=\d)/gu, '\u00a0');
}

const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069'];

/** A name within a sentence, isolated as by `<bdi>`: one in Hebrew or Arabic doesn't reorder the words around it. */
export function isolated(name: string): string {
  return FIRST_STRONG_ISOLATE + withoutIsolates(name) + POP_ISOLATE;
}

export function withoutIsolates(name: string): string {
  return name.replaceAll(/[\u2068\u2069]/g, '');
}

/** Escaped text as HTML; {@link isolated} parts are in `<bdi>`. */
export function isolatesAsHtml(escaped: string): string {
  return escaped.replaceAll(FIRST_STRONG_ISOLATE, '<bdi>').replaceAll(POP_ISOLATE, '</bdi>');
}
