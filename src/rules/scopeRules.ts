import { type Ceiling, exceeds } from './ceiling.ts';
import { invalidScope } from './error.ts';
import { MAX_CANONICAL_QUERY_BYTES } from './limits.ts';
import { hasWordsOfOneScript, skeleton } from './lookAlike.ts';
import { effectiveLimit, parseScope, type Right, type RightName, targetOf } from './scope.ts';
import { findUnclear, withinQuotation } from './text.ts';

/** The rights that this service offers: those that its catalogue has a sentence for. */
export type OfferedRights = Readonly<Partial<Record<RightName, unknown>>>;

/**
 * Parses the scope of a request. Refuses rights that are not in the catalogue or not allowed to the application, targets
 * that can't be told apart, contradictions, and limits above the application's ceiling (contract 2.2 and 7.1).
 *
 * @param allowed names of the rights that the application may ask; null for all
 * @param most the application's ceiling; null for none
 * @throws {OAuthError} `invalid_scope`
 */
export function parseRequestedScope(
  scope: string,
  offered: OfferedRights,
  allowed: readonly string[] | null,
  most: Ceiling | null = null,
): Right[] {
  if (scope.length > MAX_CANONICAL_QUERY_BYTES) {
    throw invalidScope(
      'too_long',
      `The parameter scope is longer than ${MAX_CANONICAL_QUERY_BYTES} characters.`,
    );
  }
  const rights = parseScope(scope);
  for (const right of rights) refuseUnavailable(right.name, offered, allowed);
  for (const right of rights) refuseUnclear(right);
  for (const [rule, broken] of CONTRADICTIONS) {
    if (broken(rights))
      throw invalidScope('contradiction', 'The requested rights contradict each other.', `scope: ${rule}`);
  }
  if (most !== null) for (const right of rights) refuseExcess(right, most);
  return rights;
}

function refuseUnavailable(name: RightName, offered: OfferedRights, allowed: readonly string[] | null): void {
  if (!(name in offered)) {
    const message = 'The parameter scope asks a right that this service does not offer.';
    throw invalidScope('right_not_offered', message, `scope: ${name} is not in the catalogue`);
  }
  if (allowed === null || allowed.includes(name)) return;
  const message = 'The application may not ask one of these rights.';
  throw invalidScope('right_not_allowed', message, `scope: the application may not ask ${name}`);
}

/**
 * A resource server that splits the scope at spaces would break a target with white space in two. An address in look-alike
 * letters is somebody else's; numbers of shops and accounts are the service's own, in whatever letters it gives them.
 */
function refuseUnclear(right: Right): void {
  const target = targetOf(right) ?? '';
  const isMixed =
    right.name === 'payment.to-account' && right.type === 'email' && !hasWordsOfOneScript(target);
  const unclear = findUnclear(target) ?? (isMixed ? 'letters of several scripts in one word' : undefined);
  if (unclear === undefined) return;
  const message = 'A target in the parameter scope has characters that can’t be seen or told apart.';
  throw invalidScope('unclear_target', message, `scope: the target of ${right.name} has ${unclear}`);
}

/** The default limit counts where the application wrote none. */
function refuseExcess(right: Right, most: Ceiling): void {
  const limit = effectiveLimit(right);
  if (limit === undefined || !exceeds(limit, most)) return;
  const message = 'The application may not ask to spend so much.';
  const [ceiling, asked] = [`${most.days},${most.sum}`, `${limit.days ?? ''},${limit.sum}`];
  throw invalidScope(
    'above_ceiling',
    message,
    `scope: the application may ask at most ${ceiling}, and ${right.name} has ${asked}`,
  );
}

/** The ways to be "logically contradictory" (contract 7.1). */
const CONTRADICTIONS: readonly (readonly [rule: string, broken: (rights: readonly Right[]) => boolean])[] = [
  ['the same right twice', (rights) => hasTwins(rights, identityOf)],
  ['two targets that look alike', (rights) => hasTwins(rights, lookOf)],
  ['a source of money named twice', (rights) => rights.some(hasDoubledSource)],
  [
    'payment-p2p with payment.to-account',
    (rights) => has(rights, 'payment-p2p') && has(rights, 'payment.to-account'),
  ],
  [
    'payment-shop with payment.to-pattern',
    (rights) => has(rights, 'payment-shop') && has(rights, 'payment.to-pattern'),
  ],
  ['a period limit and a one-time limit', (rights) => rights.some(isOneTime) && rights.some(hasPeriod)],
  [
    'a one-time payment with anything but money-source and account-info',
    (rights) => rights.some(isOneTime) && rights.filter((right) => !goesWithOneTime(right)).length > 1,
  ],
];

/**
 * Two rights with the same identity are the same right: a limit doesn't make them different, a target does, unless it
 * only looks different (full-width digits).
 *
 * @param spell what two spellings of one target have in common
 */
export function identityOf(right: Right, spell = (target: string) => target.normalize('NFKC')): string {
  const target = targetOf(right);
  const type = right.name === 'payment.to-account' ? right.type : '';
  return JSON.stringify([right.name, target && spell(target), type]);
}

/** Two with one look would be two equal lines of a page. A phone number is shown with its plus, which need not be written. */
function lookOf(right: Right): string {
  const sign = right.name === 'payment.to-account' && right.type === 'phone' ? /^\+/ : '';
  return identityOf(right, (target) => skeleton(withinQuotation(target).replace(sign, '')));
}

function hasTwins(rights: readonly Right[], by: (right: Right) => string): boolean {
  return new Set(rights.map((right) => by(right))).size < rights.length;
}

function has(rights: readonly Right[], name: RightName): boolean {
  return rights.some((right) => right.name === name);
}

function hasDoubledSource(right: Right): boolean {
  return right.name === 'money-source' && new Set(right.sources).size < right.sources.length;
}

function isOneTime(right: Right): boolean {
  return effectiveLimit(right)?.days === null;
}

function hasPeriod(right: Right): boolean {
  return typeof effectiveLimit(right)?.days === 'number';
}

function goesWithOneTime(right: Right): boolean {
  return right.name === 'money-source' || right.name === 'account-info';
}
