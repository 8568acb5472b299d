import { invalidScope } from './error.ts';
import { Scanner } from './scopeScanner.ts';

// The rights, and the grammar of a scope. `scopeRules.ts` has what a request may ask of them, `rightData.ts` how they are
// given to programs and pages.

/** Rights that are a bare word. */
export const SIMPLE_RIGHTS = [
  'account-info',
  'operation-history',
  'operation-details',
  'incoming-transfers',
] as const;
/** Rights to pay anyone of a kind. */
export const ANY_PAYMENT_RIGHTS = ['payment-shop', 'payment-p2p'] as const;
/** Every right the grammar knows, by the name that the catalogue and the lists of allowed rights use. */
export const RIGHT_NAMES = [
  ...SIMPLE_RIGHTS,
  ...ANY_PAYMENT_RIGHTS,
  'payment.to-pattern',
  'payment.to-account',
  'money-source',
] as const;

export type RightName = (typeof RIGHT_NAMES)[number];
export type AccountType = 'account' | 'phone' | 'email';
export type MoneySource = 'wallet' | 'card';

/**
 * How much a right may spend. `days` set: at most `sum` in any `days` days; `days` null: one payment of
 * exactly `sum`. `sum` is an exact decimal as the application wrote it, in the service's one currency.
 */
export interface PaymentLimit {
  readonly days: number | null;
  readonly sum: string;
}

/** The limit of a spending right on which the application wrote none. */
const DEFAULT_LIMIT: PaymentLimit = { days: 1, sum: '3000' };

/** One element of a scope. `limit` is null when none was written; {@link effectiveLimit} fills it in. */
export type Right =
  | { readonly name: (typeof SIMPLE_RIGHTS)[number] }
  | { readonly name: (typeof ANY_PAYMENT_RIGHTS)[number]; readonly limit: PaymentLimit | null }
  | { readonly name: 'payment.to-pattern'; readonly pattern: string; readonly limit: PaymentLimit | null }
  | {
      readonly name: 'payment.to-account';
      readonly to: string;
      readonly type: AccountType;
      readonly limit: PaymentLimit | null;
    }
  | { readonly name: 'money-source'; readonly sources: readonly MoneySource[] };

/** The limit that holds for a right: the written one or the default; `undefined` for a right that spends nothing. */
export function effectiveLimit(right: Right): PaymentLimit | undefined {
  return 'limit' in right ? (right.limit ?? DEFAULT_LIMIT) : undefined;
}

/** The shop or account that a right names; null for a right that names none. Every right stands here, so that none is missed. */
export function targetOf(right: Right): string | null {
  switch (right.name) {
    case 'payment.to-pattern':
      return right.pattern;
    case 'payment.to-account':
      return right.to;
    case 'account-info':
    case 'operation-history':
    case 'operation-details':
    case 'incoming-transfers':
    case 'payment-shop':
    case 'payment-p2p':
    case 'money-source':
      return null;
  }
}

/** Whether any of `rights` lets money leave the account, so that the payment password is asked. */
export function spends(rights: readonly Right[]): boolean {
  return rights.some((right) => 'limit' in right);
}

/**
 * Parses a scope by the grammar: elements separated by spaces, case-sensitive, in any order (contract 2.2). A stored scope
 * is parsed by the grammar alone; `parseRequestedScope` checks the other rules, for requests.
 *
 * @returns at least one right, in the order written
 * @throws {OAuthError} `invalid_scope` for anything outside the grammar (contract 7.1)
 */
export function parseScope(scope: string): Right[] {
  const scanner = new Scanner(scope);
  const rights: Right[] = [];
  scanner.skipSpaces();
  while (!scanner.atEnd) {
    rights.push(parseRight(scanner));
    if (!scanner.atEnd && !scanner.skipSpaces()) scanner.fail('a space between two rights');
  }
  if (rights.length === 0) throw invalidScope('no_rights', 'The parameter scope is missing or empty.');
  return rights;
}

function parseRight(scanner: Scanner): Right {
  const word = scanner.take(/[a-z0-9-]+/y);
  const simple = SIMPLE_RIGHTS.find((name) => name === word);
  if (simple) return { name: simple };
  const anyPayment = ANY_PAYMENT_RIGHTS.find((name) => name === word);
  if (anyPayment) return { name: anyPayment, limit: parseLimit(scanner) };
  if (word === 'payment') return parsePaymentTo(scanner);
  if (word === 'money-source') return { name: 'money-source', sources: parseSources(scanner) };
  const isOpenId = word === 'openid' || word === 'profile' || word === 'email';
  return scanner.fail(`the name of a right${isOpenId ? ` (this is no OpenID provider: not ${word})` : ''}`);
}

function parsePaymentTo(scanner: Scanner): Right {
  const kind = scanner.take(/\.to-(?:pattern|account)(?=\()/y);
  if (kind === undefined) return scanner.fail('.to-pattern(…) or .to-account(…) after payment');
  const [target, type, ...more] = scanner.takeStrings();
  if (!target || more.length > 0) return scanner.fail('the target of the payment');
  if (kind === '.to-pattern') {
    if (type !== undefined) return scanner.fail('one target');
    return { name: 'payment.to-pattern', pattern: target, limit: parseLimit(scanner) };
  }
  return {
    name: 'payment.to-account',
    to: target,
    type: accountType(scanner, type),
    limit: parseLimit(scanner),
  };
}

function accountType(scanner: Scanner, type: string | undefined): AccountType {
  if (type === undefined || type === 'account') return 'account';
  if (type === 'phone' || type === 'email') return type;
  return scanner.fail('"account", "phone" or "email" as the type');
}

function parseSources(scanner: Scanner): MoneySource[] {
  return scanner.takeStrings().map((source) => {
    if (source === 'wallet') return 'wallet';
    if (source === 'card' || source === 'cards') return 'card';
    return scanner.fail('"wallet" or "card"');
  });
}

/** `.limit(days,sum)`: whole days of at most 4 digits, or none; a plain decimal above zero. */
function parseLimit(scanner: Scanner): PaymentLimit | null {
  if (scanner.take(/\.limit\(/y) === undefined) return null;
  const days = scanner.take(/[1-9][0-9]{0,3}/y);
  scanner.takeComma();
  const sum = scanner.take(/(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,2})?/y);
  if (sum === undefined || /^[0.]+$/.test(sum)) {
    return scanner.fail('a sum above zero, with at most 2 decimal places');
  }
  if (scanner.take(/\)/y) === undefined) return scanner.fail('a closing parenthesis');
  return { days: days === undefined ? null : Number(days), sum };
}

/**
 * The rights of a grant, by the grammar alone: a later rule for requests does not take back what a user allowed.
 *
 * @throws {Error} naming the client, when the stored scope can't be read, which is a fault of ours
 */
export function grantedRights({ clientId, scope }: { clientId: string; scope: string }): Right[] {
  try {
    return parseScope(scope);
  } catch (cause) {
    throw new Error(`grants: the scope of a grant to ${clientId} can't be read`, { cause });
  }
}
