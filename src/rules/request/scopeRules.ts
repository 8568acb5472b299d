import { invalidScope } from '../common/error.ts';
import { MAX_CANONICAL_QUERY_BYTES } from '../common/limits.ts';
import { hasWordsOfOneScript, skeleton } from '../common/lookAlike.ts';
import { findUnclear, withinQuotation } from '../common/text.ts';
import { type Ceiling, exceeds } from '../scope/ceiling.ts';
import { RIGHT_NAMES, RIGHTS, type RightName } from '../scope/rights.ts';
import { keptScope, type Right } from '../scope/scope.ts';
import type { Client } from './client.ts';

/** A service offers the rights with a sentence in its catalogue, in its only currency (ISO 4217). */
export interface Offer {
  readonly catalogue: Readonly<Partial<Record<RightName, unknown>>>;
  readonly currency: string;
}

type Asking = Pick<Client, 'allowedRights' | 'most'>;

/** Parses a request's scope, by the rules of contract 2.2 and 7.1. @throws {OAuthError} `invalid_scope` */
export function parseRequestedScope(scope: string, offer: Offer, client: Asking): readonly Right[] {
  if (scope.length > MAX_CANONICAL_QUERY_BYTES) {
    const message = `The parameter scope is longer than ${MAX_CANONICAL_QUERY_BYTES} characters.`;
    throw invalidScope('too_long', message);
  }
  const rights = keptScope(scope, offer.currency);
  for (const right of rights) refuseUnavailable(right, offer, client);
  for (const right of rights) refuseUnclear(right);
  const contradiction = CONTRADICTIONS.find(([, broken]) => broken(rights));
  if (contradiction !== undefined) {
    const message = 'The requested rights contradict each other.';
    throw invalidScope('contradiction', message, `scope: ${contradiction[0]}`);
  }
  if (client.most !== null) for (const right of rights) refuseExcess(right, client.most);
  return rights;
}

function refuseUnavailable({ name }: Right, { catalogue }: Offer, { allowedRights }: Asking): void {
  if (!(name in catalogue)) {
    const message = 'The parameter scope asks a right that this service does not offer.';
    throw invalidScope('right_not_offered', message, `scope: ${name} is not in the catalogue`);
  }
  if (allowedRights === null || allowedRights.includes(name)) return;
  const message = 'The application may not ask one of these rights.';
  throw invalidScope('right_not_allowed', message, `scope: the application may not ask ${name}`);
}

/**
 * Resource servers that split a scope at spaces would break a target with white space. An email address in look-alike letters
 * is another user's; numbers of shops and accounts are the service's own, in any letters.
 */
function refuseUnclear({ name, target = '', type }: Right): void {
  const isMixed = type === 'email' && !hasWordsOfOneScript(target);
  const unclear = findUnclear(target) ?? (isMixed ? 'letters of several scripts in one word' : undefined);
  if (unclear === undefined) return;
  const message = 'A target in the parameter scope has characters that can’t be seen or told apart.';
  throw invalidScope('unclear_target', message, `scope: the target of ${name} has ${unclear}`);
}

/** Applies the default limit if the application wrote none. */
function refuseExcess({ name, limit }: Right, most: Ceiling): void {
  if (limit === undefined || !exceeds(limit, most)) return;
  const message = 'The application may not ask to spend so much.';
  const [ceiling, asked] = [`${most.days},${most.sum}`, `${limit.days ?? ''},${limit.sum}`];
  const rule = `scope: the application may ask at most ${ceiling}, and ${name} has ${asked}`;
  throw invalidScope('above_ceiling', message, rule);
}

type Contradiction = readonly [rule: string, broken: (rights: readonly Right[]) => boolean];

/** All cases of "logically contradictory" (contract 7.1). */
const CONTRADICTIONS: readonly Contradiction[] = [
  ['the same right twice', (rights) => hasTwins(rights, identityOf)],
  ['two targets that look alike', (rights) => hasTwins(rights, lookOf)],
  ['a source of money named twice', (rights) => rights.some(({ sources = [] }) => hasTwins(sources, String))],
  ...wholesWithParts(),
  [
    'a period limit and a one-time limit',
    (rights) => rights.some(isOneTime) && rights.some(({ limit }) => typeof limit?.days === 'number'),
  ],
  [
    'a one-time payment with anything but money-source and account-info',
    (rights) =>
      rights.some(isOneTime) && rights.filter(({ name }) => !RIGHTS[name].goesWithOneTime).length > 1,
  ],
];

/** Equal for the same right, whatever its limit. @param spell maps two spellings of one target to the same */
export function identityOf(
  { name, target, type }: Right,
  spell = (target: string) => target.normalize('NFKC'),
): string {
  return JSON.stringify([name, target && spell(target), type]);
}

/** Equal for two lines that look the same on a page. A phone number is shown with its plus, which is optional in a scope. */
function lookOf(right: Right): string {
  const sign = right.type === 'phone' ? /^\+/ : '';
  return identityOf(right, (target) => skeleton(withinQuotation(target).replace(sign, '')));
}

function hasTwins<Item>(items: readonly Item[], by: (item: Item) => string): boolean {
  return new Set(items.map((item) => by(item))).size < items.length;
}

/** A right to pay all of a kind, together with one to pay one of them. */
function wholesWithParts(): Contradiction[] {
  return RIGHT_NAMES.flatMap((part) => {
    const whole = RIGHTS[part].isPartOf;
    if (whole === undefined) return [];
    const has = (rights: readonly Right[], wanted: RightName) => rights.some(({ name }) => name === wanted);
    return [[`${whole} with ${part}`, (rights) => has(rights, whole) && has(rights, part)]];
  });
}

function isOneTime({ limit }: Right): boolean {
  return limit?.days === null;
}
