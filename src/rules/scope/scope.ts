import { OAuthError } from '../common/error.ts';
import { isDay } from '../common/lifetimes.ts';
import { MAX_SCOPE_TEXT_CHARACTERS } from '../common/limits.ts';
import { memoize } from '../common/memoize.ts';
import { defaultLimit, hundredths, isOpen, type Limit } from '../common/money.ts';
import { BUILT_IN_RIGHTS, isRightName, type MoneySource, NAME } from './rights.ts';

// The grammar of a scope. `scopeRules.ts` has the rules for requests, `rightData.ts` the form for programs and pages.

export const INVALID_RIGHT_MESSAGE = 'The parameter scope has a value that is not a right of this service.';

/** One element of a scope (contract 2.2). */
export interface Right {
  readonly name: string;
  /** The shop or the account to pay; undefined for a right without one. */
  readonly target?: string | undefined;
  /** The kind of account that `target` names. */
  readonly type?: 'account' | 'phone' | 'email' | undefined;
  readonly sources?: readonly MoneySource[] | undefined;
  /** For each right that spends: the written limit or, for a built-in one, the default. */
  readonly limit?: Limit | undefined;
}

/** Money may leave the account: the payment password is required. */
export function hasSpendingRight(rights: readonly Right[]): boolean {
  return rights.some(({ limit }) => limit !== undefined);
}

/**
 * Parses a scope by the grammar only (contract 2.2): a grant stays readable, whatever the catalogue says later.
 * @returns at least one right @throws {OAuthError} `invalid_scope` (contract 7.1)
 */
export function parseScope(scope: string, currency: string): Right[] {
  const scanner = new Scanner(scope);
  const rights: Right[] = [];
  scanner.skipSpaces();
  while (!scanner.atEnd) {
    rights.push(parseRight(scanner, currency));
    if (!scanner.atEnd && !scanner.skipSpaces()) scanner.fail('a space between two rights');
  }
  if (rights.length === 0) throw new OAuthError('no_rights', 'The parameter scope is missing or empty.');
  return rights;
}

function parseRight(scanner: Scanner, currency: string): Right {
  const name = parseName(scanner);
  const kind = BUILT_IN_RIGHTS.get(name);
  if (kind === undefined) {
    // The catalogue says which form is the right one.
    const { target, type } = scanner.take(/(?=\()/y) === undefined ? {} : parseAccount(scanner);
    return { name, target, type, sources: undefined, limit: parseLimit(scanner, currency) };
  }
  const { names, spends } = kind;
  const { target, type, sources }: Partial<Right> = names ? parseNamed[names](scanner) : {};
  const limit = spends ? (parseLimit(scanner, currency) ?? defaultLimit(currency)) : undefined;
  return { name, target, type, sources, limit };
}

function parseName(scanner: Scanner): string {
  const name = scanner.take(NAME);
  if (name === 'payment') return scanner.fail('payment.to-pattern(…) or payment.to-account(…)');
  return name !== undefined && isRightName(name) ? name : scanner.fail('the name of a right');
}

const parseNamed = {
  shop(scanner: Scanner) {
    const { target, type } = parseTarget(scanner);
    return type === undefined ? { target } : scanner.fail('one target');
  },
  account(scanner: Scanner) {
    const { target, type = 'account' } = parseAccount(scanner);
    return { target, type };
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

function parseAccount(scanner: Scanner): Pick<Right, 'target' | 'type'> {
  const { target, type } = parseTarget(scanner);
  const isType = type === undefined || type === 'account' || type === 'phone' || type === 'email';
  return isType ? { target, type } : scanner.fail('"account", "phone" or "email" as the type');
}

function parseTarget(scanner: Scanner) {
  const [target, type, ...more] = scanner.takeStrings();
  if (!target || more.length > 0) return scanner.fail('the target of the payment');
  return { target, type };
}

/** `.limit(days,sum)`, with whole days of at most 4 digits, or none; then `.each(sum)` after days, and `.until(day)`. */
function parseLimit(scanner: Scanner, currency: string): Limit | undefined {
  if (scanner.take(/\.limit\(/y) === undefined) return undefined;
  const days = scanner.take(/[1-9][0-9]{0,3}/y);
  scanner.takeComma();
  const limit = { days: days === undefined ? null : Number(days), sum: parseSum(scanner), currency };
  const hasEach = days !== undefined && scanner.take(/\.each\(/y) !== undefined;
  const each = hasEach ? { each: parseSum(scanner) } : {};
  const until = scanner.take(/\.until\(/y) === undefined ? {} : { until: parseDay(scanner) };
  return { ...limit, ...each, ...until };
}

/** A plain decimal above zero, and the closing parenthesis. */
function parseSum(scanner: Scanner): string {
  const sum = scanner.take(/(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,2})?/y);
  if (sum === undefined || hundredths({ sum }) === 0n)
    return scanner.fail('a sum above zero, with at most 2 decimal places');
  if (scanner.take(/\)/y) === undefined) return scanner.fail('a closing parenthesis');
  return sum;
}

/** A day of the calendar, and the closing parenthesis. */
function parseDay(scanner: Scanner): string {
  const day = scanner.take(/[0-9-]+\)/y)?.slice(0, -1) ?? '';
  return isDay(day) ? day : scanner.fail('a day such as 2027-06-30');
}

/** Scans a scope from left to right: it can't be split at spaces, which its strings may contain. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length;
  }

  /** Takes the match of `pattern` (sticky) here; undefined without one. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0];
    this.#at += taken?.length ?? 0;
    return taken;
  }

  skipSpaces(): boolean {
    return this.take(/ +/y) !== undefined;
  }

  takeComma(): void {
    if (this.take(/, ?/y) === undefined) this.fail('a comma');
  }

  /** `("…", "…")` */
  takeStrings(): string[] {
    if (this.take(/\(/y) === undefined) this.fail('an opening parenthesis');
    const strings = [this.#takeString()];
    while (this.take(/\)/y) === undefined) {
      this.takeComma();
      strings.push(this.#takeString());
    }
    return strings;
  }

  #takeString(): string {
    const quoted = this.take(/"(?:[^"\\]|\\["\\])*"/y);
    if (quoted === undefined) return this.fail('a string in double quotes');
    const text = quoted.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
    if ([...text].length <= MAX_SCOPE_TEXT_CHARACTERS) return text;
    return this.fail(`a string of at most ${MAX_SCOPE_TEXT_CHARACTERS} characters`);
  }

  /** @throws {OAuthError} `invalid_scope`, with what was expected and where */
  fail(expected: string): never {
    const rule = `scope: expected ${expected} before or at character ${this.#at + 1}`;
    throw new OAuthError('unreadable_rights', INVALID_RIGHT_MESSAGE, rule);
  }
}

/** Longer ones are parsed each time: the cache takes little memory. */
const MAX_KEPT_CHARACTERS = 1_000;
const parsedIn = memoize((currency: string) =>
  memoize((scope: string): readonly Right[] => parseScope(scope, currency)),
);

/** Like {@link parseScope}, with a cache: most applications request the same of each user. */
export function parseScopeCached(scope: string, currency: string): readonly Right[] {
  return scope.length > MAX_KEPT_CHARACTERS ? parseScope(scope, currency) : parsedIn(currency)(scope);
}

/**
 * The rights of a grant that have not ended, by the grammar only: a later rule for requests ends none.
 * @throws {Error} for an unreadable row
 */
export function grantedRights(
  { clientId, scope }: { clientId: string; scope: string },
  currency: string,
  now: Date,
): readonly Right[] {
  try {
    return parseScopeCached(scope, currency).filter(({ limit }) => limit === undefined || isOpen(limit, now));
  } catch (cause) {
    throw new Error(`grants: the scope of a grant to ${clientId} can't be read`, { cause });
  }
}

/** Writes a scope by the grammar, in its shortest form: `parseScope(formatScope(rights))` returns `rights`. */
export function formatScope(rights: readonly Right[]): string {
  return rights.map(formatRight).join(' ');
}

function formatRight({ name, target, type, sources, limit }: Right): string {
  const written = type === 'account' && BUILT_IN_RIGHTS.has(name) ? undefined : type;
  const texts = sources ?? [target, written].filter((text) => text !== undefined);
  const named = texts.length === 0 ? '' : `(${texts.map(quote).join(',')})`;
  return name + named + (limit === undefined || limit.isDefault ? '' : formatLimit(limit));
}

function formatLimit({ days, sum, each, until }: Limit): string {
  const largest = each === undefined ? '' : `.each(${each})`;
  return `.limit(${days ?? ''},${sum})${largest}${until === undefined ? '' : `.until(${until})`}`;
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
