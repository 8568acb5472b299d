import { invalidScope } from '../common/error.ts';
import { kept } from '../common/kept.ts';
import { defaultLimit, type Limit } from '../common/money.ts';
import { isRightName, isSpending, RIGHT_NAMES, RIGHTS, type RightName } from './rights.ts';
import { Scanner } from './scopeScanner.ts';

// The grammar of a scope. `scopeRules.ts` has the rules for requests, `rightData.ts` the form for programs and pages.

export type MoneySource = 'wallet' | 'card';

/** One element of a scope. */
export interface Right {
  readonly name: RightName;
  /** A shop or an account. */
  readonly target?: string | undefined;
  /** Type of an account. */
  readonly type?: 'account' | 'phone' | 'email' | undefined;
  readonly sources?: readonly MoneySource[] | undefined;
  /** For each right that spends: the written limit or the default. */
  readonly limit?: Limit | undefined;
}

/** Money may leave the account: the payment password is required. */
export function spends(rights: readonly Right[]): boolean {
  return rights.some(({ limit }) => limit !== undefined);
}

/** By the grammar only (contract 2.2). @returns at least one right @throws {OAuthError} `invalid_scope` (contract 7.1) */
export function parseScope(scope: string, currency: string): Right[] {
  const scanner = new Scanner(scope);
  const rights: Right[] = [];
  scanner.skipSpaces();
  while (!scanner.atEnd) {
    rights.push(parseRight(scanner, currency));
    if (!scanner.atEnd && !scanner.skipSpaces()) scanner.fail('a space between two rights');
  }
  if (rights.length === 0) throw invalidScope('no_rights', 'The parameter scope is missing or empty.');
  return rights;
}

function parseRight(scanner: Scanner, currency: string): Right {
  const name = parseName(scanner);
  const { names } = RIGHTS[name];
  const { target, type, sources }: Partial<Right> = names ? parseNamed[names](scanner) : {};
  return { name, target, type, sources, limit: isSpending(name) ? parseLimit(scanner, currency) : undefined };
}

const PAYMENTS = RIGHT_NAMES.flatMap((name) => (name.startsWith('payment.') ? [name.slice(7)] : []));
const PAYMENT = new RegExp(`(?:${PAYMENTS.join('|').replaceAll('.', '\\.')})(?=\\()`, 'y');

function parseName(scanner: Scanner): RightName {
  const word = scanner.take(/[a-z0-9-]+/y);
  const written = word === 'payment' ? word + (scanner.take(PAYMENT) ?? '') : word;
  if (written !== undefined && isRightName(written)) return written;
  if (word === 'payment') {
    return scanner.fail(`${PAYMENTS.map((rest) => `${rest}(…)`).join(' or ')} after payment`);
  }
  if (word === 'openid' || word === 'profile' || word === 'email')
    return scanner.fail(`the name of a right (this is no OpenID provider: not ${word})`, 'openid_scope');
  return scanner.fail('the name of a right');
}

const parseNamed = {
  shop(scanner: Scanner) {
    const { target, type } = parseTarget(scanner);
    return type === undefined ? { target } : scanner.fail('one target');
  },
  account(scanner: Scanner) {
    const { target, type = 'account' } = parseTarget(scanner);
    if (type === 'account' || type === 'phone' || type === 'email') return { target, type } as const;
    return scanner.fail('"account", "phone" or "email" as the type');
  },
  sources(scanner: Scanner) {
    const sources = scanner.takeStrings().map((source): MoneySource => {
      if (source === 'wallet') return 'wallet';
      if (source === 'card' || source === 'cards') return 'card';
      return scanner.fail('"wallet" or "card"');
    });
    return { sources };
  },
};

function parseTarget(scanner: Scanner) {
  const [target, type, ...more] = scanner.takeStrings();
  if (!target || more.length > 0) return scanner.fail('the target of the payment');
  return { target, type };
}

/** `.limit(days,sum)`: whole days of at most 4 digits, or none; a plain decimal above zero. */
function parseLimit(scanner: Scanner, currency: string): Limit {
  if (scanner.take(/\.limit\(/y) === undefined) return defaultLimit(currency);
  const days = scanner.take(/[1-9][0-9]{0,3}/y);
  scanner.takeComma();
  const sum = scanner.take(/(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,2})?/y);
  if (sum === undefined || /^[0.]+$/.test(sum)) {
    return scanner.fail('a sum above zero, with at most 2 decimal places');
  }
  if (scanner.take(/\)/y) === undefined) return scanner.fail('a closing parenthesis');
  return { days: days === undefined ? null : Number(days), sum, currency };
}

/** Longer ones are parsed each time: the cache takes little memory. */
const MAX_KEPT_CHARACTERS = 1_000;
const parsedIn = kept((currency: string) =>
  kept((scope: string): readonly Right[] => parseScope(scope, currency)),
);

/** Like {@link parseScope}, with a cache: most applications request the same of each user. */
export function keptScope(scope: string, currency: string): readonly Right[] {
  return scope.length > MAX_KEPT_CHARACTERS ? parseScope(scope, currency) : parsedIn(currency)(scope);
}

/** By the grammar only: a later rule for requests revokes no authorization. @throws {Error} for an unreadable row */
export function grantedRights(
  { clientId, scope }: { clientId: string; scope: string },
  currency: string,
): readonly Right[] {
  try {
    return keptScope(scope, currency);
  } catch (cause) {
    throw new Error(`grants: the scope of a grant to ${clientId} can't be read`, { cause });
  }
}
