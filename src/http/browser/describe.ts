import { BUILT_IN_CATALOGUE, type Catalogue } from '../../rules/catalogue.ts';
import {
  effectiveLimit,
  type MoneySource,
  type PaymentLimit,
  type Right,
  spends,
  targetOf,
} from '../../rules/scope.ts';

/** A right in plain words: what the application may do and, where it spends, how much and how often. */
export interface DescribedRight {
  /** The sentence, in two parts around the target if it has one. */
  readonly before: string;
  /** The application's own words, which a page sets apart from ours; null for none. */
  readonly target: string | null;
  readonly after: string;
  readonly limit: string | null;
  /** Whether it spends money, or names the source of it. */
  readonly spending: boolean;
}

/**
 * The rights of a scope as the user reads them (contract 1.2: "sees the requested rights and the payment limits"). Defaults
 * are shown like what was written: the default limit, and the wallet as the source of money where none is named.
 */
export function describeRights(
  rights: readonly Right[],
  catalogue: Catalogue,
  currency: string,
): DescribedRight[] {
  const spending = spends(rights);
  const named = rights.some((right) => right.name === 'money-source');
  const all: Right[] = spending && !named ? [...rights, DEFAULT_SOURCE] : [...rights];
  return all.map((right) => {
    const limit = effectiveLimit(right);
    return {
      ...describeRight(right, catalogue),
      limit: limit ? describeLimit(limit, currency) : null,
      spending: limit !== undefined || (spending && right.name === 'money-source'),
    };
  });
}

const DEFAULT_SOURCE: Right = { name: 'money-source', sources: ['wallet'] };

type Sentence = Pick<DescribedRight, 'before' | 'target' | 'after'>;

function describeRight(right: Right, catalogue: Catalogue): Sentence {
  // A grant may hold a right that the operator's catalogue does not offer any more.
  const sentence = catalogue[right.name] ?? BUILT_IN_CATALOGUE[right.name] ?? right.name;
  const [before = '', after = ''] = sentence.split('{target}', 2);
  switch (right.name) {
    case 'payment.to-account':
      return { before: `${before}the ${ACCOUNT_TYPES[right.type]} `, target: right.to, after };
    case 'money-source': {
      const sources = right.sources.map((source) => SOURCES[source]).join(' or ');
      return { before: before + sources + after, target: null, after: '' };
    }
    default: {
      const target = targetOf(right);
      return target === null ? { before: sentence, target, after: '' } : { before, target, after };
    }
  }
}

const ACCOUNT_TYPES = { account: 'account', phone: 'phone number', email: 'email address' } as const;
const SOURCES: Record<MoneySource, string> = { wallet: 'your wallet', card: 'your linked card' };

/** A limit as an amount and a period, for example "At most RUB 3,000 in any 7 days". */
export function describeLimit(limit: PaymentLimit, currency: string): string {
  const amount = formatAmount(limit.sum, currency);
  if (limit.days === null) return `One payment of exactly ${amount}`;
  return limit.days === 1 ? `At most ${amount} a day` : `At most ${amount} in any ${limit.days} days`;
}

/** Making a format takes a hundred times longer than using it. */
const amountFormats = new Map<string, Intl.NumberFormat>();

/** An exact decimal with its currency, by ISO 4217. It never becomes a float: 123456789012.34 stays what it is. */
export function formatAmount(sum: string, currency: string): string {
  const format = amountFormats.get(currency) ?? amountFormat(currency);
  amountFormats.set(currency, format);
  // Node formats decimal strings exactly; the type of `format` here knows numbers only.
  return format.format(sum as `${number}`);
}

function amountFormat(currency: string): Intl.NumberFormat {
  return new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    trailingZeroDisplay: 'stripIfInteger',
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
}

const DAY_FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** A day in plain words, in UTC, for example "20 November 2029". */
export function describeDay(time: Date): string {
  return DAY_FORMAT.format(time);
}

/** A wait in plain words, for example "3 minutes". */
export function describeWait(seconds: number): string {
  if (seconds > 90) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}

/** Where a redirect URI leads: its host, or the scheme of an application on the device. */
export function describeTarget(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === '' || !/^https?:$/.test(protocol) ? protocol.slice(0, -1) : host;
}
