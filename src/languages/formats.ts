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
  /** The day that it is in a time zone (an IANA name), for example `20 November 2029`. */
  day(time: Date, timeZone: string): string;
  /** The same with the time, for example `20 November 2029 at 14:05 UTC`, or `at 17:05 GMT+3`. */
  time(time: Date, timeZone: string): string;
  /** The time of day, for example `14:05 UTC`. */
  clock(time: Date, timeZone: string): string;
  /** The time zone by its name, for example `UTC` or `Moscow Standard Time`. */
  zone(timeZone: string): string;
  /** A day that is one of UTC wherever it is read. @param day for example `2029-11-20` */
  utcDay(day: string): string;
  /** How long ago, for example `5 minutes ago`; null from an hour on. */
  ago(time: Date, now: Date): string | null;
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
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' });
  const lists = new Intl.ListFormat(tag, { type: 'disjunction' });
  // Making a format takes a hundred times longer than using it.
  const amounts = new Map<string, Intl.NumberFormat>();
  const calendars = new Map<string, Calendar>();
  const calendarIn = (timeZone: string): Calendar => {
    const calendar = calendars.get(timeZone) ?? calendarOf(tag, timeZone);
    calendars.set(timeZone, calendar);
    return calendar;
  };
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
    day: (time, timeZone) => calendarIn(timeZone).days.format(time),
    time: (time, timeZone) => withZone(time, calendarIn(timeZone).times, calendarIn(timeZone)),
    clock: (time, timeZone) => withZone(time, calendarIn(timeZone).clocks, calendarIn(timeZone)),
    zone: (timeZone) => calendarIn(timeZone).zone,
    utcDay: (day) => calendarIn('UTC').days.format(new Date(day)),
    ago(time, now) {
      const minutes = Math.floor((now.getTime() - time.getTime()) / 60_000);
      if (minutes >= 60) return null;
      return minutes < 1 ? relative.format(0, 'second') : relative.format(-minutes, 'minute');
    },
    oneOf: (items) => lists.format(items),
  };
}

/** The formats of a language in one time zone. */
interface Calendar {
  readonly days: Intl.DateTimeFormat;
  readonly times: Intl.DateTimeFormat;
  readonly clocks: Intl.DateTimeFormat;
  /** The zone by a short name that tells summer time apart, such as `CEST`; `Intl` doesn't add it to the others by itself. */
  readonly zones: Intl.DateTimeFormat;
  /** Its name all year. */
  readonly zone: string;
}

function calendarOf(tag: string, timeZone: string): Calendar {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(tag, { timeZone, ...options });
  const zones = format({ timeZoneName: 'short' });
  const isUtc = zoneNameOf(new Date(), zones) === 'UTC';
  return {
    days: format({ dateStyle: 'long' }),
    times: format({ dateStyle: 'long', timeStyle: 'short' }),
    clocks: format({ timeStyle: 'short' }),
    zones,
    zone: isUtc ? 'UTC' : zoneNameOf(new Date(), format({ timeZoneName: 'longGeneric' })),
  };
}

function withZone(time: Date, format: Intl.DateTimeFormat, { zones }: Calendar): string {
  return `${format.format(time)} ${zoneNameOf(time, zones)}`;
}

function zoneNameOf(time: Date, zones: Intl.DateTimeFormat): string {
  return zones.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
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

/** A text of ours as it goes on after a colon or within a sentence, for example "at most RUB 500 a day". */
export function inSentence(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
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
