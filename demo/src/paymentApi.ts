import type { Sentences as Texts } from '../texts/en.d.ts';

// A payment API, OAuth's resource server. It introspects the token before each payment and enforces limits by the
// rules of docs/integrate/resources.md. Its ledger is in memory; a real one is a table, as on that page.

export type Resource = Readonly<Record<'server' | 'resourceId' | 'resourceSecret', string>>;

export const PAYEES = ['shop', 'account', 'phone', 'email'] as const;
export const SOURCES = ['wallet', 'card'] as const;

export interface Payment {
  readonly to: (typeof PAYEES)[number];
  readonly payee: string;
  /** A decimal as text, in the wallet's only currency. */
  readonly amount: string;
  readonly source: (typeof SOURCES)[number];
}

/** The fields of an introspection response (RFC 7662) that are used here. */
export interface Told {
  readonly active: boolean;
  readonly grant_id?: string;
  readonly iat?: number;
  readonly rights?: readonly Right[];
  readonly money_sources?: readonly string[];
}

interface Right {
  readonly right: string;
  readonly target?: string;
  readonly target_type?: string;
  readonly period_days?: number;
  readonly amount?: string;
}

/** `paid` and `paid_once` allow the payment; the texts explain each. */
export type Verdict = Exclude<keyof Texts['reasons'], 'invalid_grant'>;

/** The right whose budget the payment used, if any, and the amount spent before. */
export interface Outcome {
  readonly verdict: Verdict;
  readonly right?: Right;
  readonly spent_before?: string;
  /** The spent part of a limit over days. */
  readonly budget?: Budget;
}

export interface Budget {
  readonly used: string;
  readonly limit: string;
  /** The time when all of it is free again. */
  readonly freeAt: Date;
}

interface Entry {
  readonly grant: string;
  readonly authorizedAt: number;
  readonly budget: string;
  readonly cents: bigint;
  readonly paidAt: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const TIMEOUT_MS = 8_000;

export function isPaid(verdict: Verdict): boolean {
  return verdict === 'paid' || verdict === 'paid_once';
}

export class PaymentApi {
  readonly #resource: Resource;
  readonly #ledger: Entry[] = [];

  constructor(resource: Resource) {
    this.#resource = resource;
  }

  /** Introspects a token. @throws if the server gives no answer: then nothing is paid */
  async introspect(token: string, fetch: typeof globalThis.fetch): Promise<Told> {
    const { server, resourceId, resourceSecret } = this.#resource;
    const response = await fetch(`${server}/oauth/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${resourceId}:${resourceSecret}`)}` },
      body: new URLSearchParams({ token }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`introspection: ${response.status}`);
    return (await response.json()) as Told;
  }

  /** Checks a payment and records an allowed one, without an `await` in between. In SQL this is one statement. No money moves. */
  pay(told: Told, payment: Payment, now = Date.now()): Outcome {
    const cents = centsOf(payment.amount);
    if (cents === null) return { verdict: 'invalid_amount' };
    if (!told.active) return { verdict: 'invalid_token' };
    const right = rightFor(payment, told.rights ?? []);
    if (right === undefined) return { verdict: 'insufficient_scope' };
    if (!told.money_sources?.includes(payment.source)) return { verdict: 'other_source', right };
    const { grant_id: grant = '', iat: authorizedAt = 0 } = told;
    const entry = { grant, authorizedAt, budget: budgetOf(right), cents, paidAt: now };
    const counted = this.#ledger.filter((other) => other.grant === grant && counts(other, entry, right));
    const spent = sumOf(counted);
    const verdict = judge(right, spent, cents);
    if (isPaid(verdict)) {
      this.#ledger.push(entry);
      counted.push(entry);
    }
    return { verdict, right, spent_before: decimalOf(spent), ...budgetAfter(counted, right) };
  }
}

/** The right whose budget pays: the most specific match. */
function rightFor({ to, payee }: Payment, rights: readonly Right[]): Right | undefined {
  const [named, any] =
    to === 'shop' ? ['payment.to-pattern', 'payment-shop'] : ['payment.to-account', 'payment-p2p'];
  const isNamed = ({ right, target, target_type }: Right) =>
    right === named && target === payee && target_type === (to === 'shop' ? undefined : to);
  return rights.find(isNamed) ?? rights.find(({ right }) => right === any);
}

/** A right's budget, regardless of the limit: a new authorization keeps the spent amount. */
function budgetOf({ right, target = '', target_type = '' }: Right): string {
  return JSON.stringify([right, target.normalize('NFKC'), target_type]);
}

/** Within the budget's sliding window, or for a one-time payment within this authorization. */
function counts(earlier: Entry, entry: Entry, { period_days: days }: Right): boolean {
  if (days === undefined) return earlier.authorizedAt === entry.authorizedAt;
  return earlier.budget === entry.budget && earlier.paidAt > entry.paidAt - days * DAY_MS;
}

function sumOf(entries: readonly Entry[]): bigint {
  return entries.reduce((sum, { cents }) => sum + cents, 0n);
}

function budgetAfter(counted: readonly Entry[], { period_days: days, amount = '0' }: Right) {
  const last = counted.at(-1);
  if (days === undefined || last === undefined) return {};
  const freeAt = new Date(last.paidAt + days * DAY_MS);
  return { budget: { used: decimalOf(sumOf(counted)), limit: amount, freeAt } };
}

function judge({ period_days, amount = '0' }: Right, spent: bigint, cents: bigint): Verdict {
  const limit = centsOf(amount) ?? 0n;
  if (period_days !== undefined) return spent + cents <= limit ? 'paid' : 'limit_exceeded';
  if (spent > 0n) return 'used_up';
  return cents === limit ? 'paid_once' : 'other_sum';
}

/** An exact number of hundredths; null unless it is an amount above zero. */
function centsOf(amount: string): bigint | null {
  const [, whole = '', part = ''] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  return /[1-9]/.test(whole + part) ? BigInt(whole + part.padEnd(2, '0')) : null;
}

function decimalOf(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
