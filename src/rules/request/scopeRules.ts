import { OAuthError } from '../common/error.ts';
import { dayOf, tokenExpiresAt } from '../common/lifetimes.ts';
import { MAX_CANONICAL_QUERY_BYTES } from '../common/limits.ts';
import { hasWordsOfOneScript, skeleton } from '../common/lookAlike.ts';
import { type Ceiling, exceeds, hundredths, largestPayment } from '../common/money.ts';
import { findInvisibleCharacter, replaceQuotationMarks } from '../common/text.ts';
import { BUILT_IN_RIGHTS, kindOf, type RightKinds } from '../scope/rights.ts';
import { formatScope, INVALID_RIGHT_MESSAGE, parseScopeCached, type Right } from '../scope/scope.ts';
import type { Client } from './client.ts';

/** What a limit may have beside its sum, where `LIMITS` names it: payment APIs must know it. */
export const FURTHER_LIMITS = ['each', 'until'] as const;

export type FurtherLimit = (typeof FURTHER_LIMITS)[number];

/** A service offers the rights of its catalogue, in its only currency (ISO 4217). */
export interface Offer {
  readonly catalogue: RightKinds;
  readonly currency: string;
  /** Of a request without a written limit. Null for a scope that another service granted: any right is read, no limit added. */
  readonly defaultLimit: Ceiling | null;
  /** In the order of {@link FURTHER_LIMITS}. What was granted with others stays. */
  readonly furtherLimits: readonly FurtherLimit[];
}

/** Without an operator's settings. */
export const BUILT_IN_OFFER = {
  catalogue: BUILT_IN_RIGHTS,
  currency: 'RUB',
  defaultLimit: { days: 1, sum: '3000' },
  furtherLimits: [],
} satisfies Offer;

type Asking = Pick<Client, 'allowedRights' | 'most'>;

/**
 * Parses the scope of a request, by the rules of contract 2.2 and 7.1. @throws {OAuthError} `invalid_scope`
 * @returns the rights, and the scope that grants them: as sent, byte for byte, unless {@link complete} adds to it
 */
export function parseRequestedScope(scope: string, offer: Offer, client: Asking) {
  if (scope.length > MAX_CANONICAL_QUERY_BYTES) {
    const message = `The parameter scope is longer than ${MAX_CANONICAL_QUERY_BYTES} characters.`;
    throw new OAuthError('too_long', message, { code: 'invalid_scope' });
  }
  const parsed = parseScopeCached(scope, offer.currency);
  for (const right of parsed) refuseUnavailable(right, offer, client);
  for (const right of parsed) refuseUnclear(right);
  const completed = parsed.map((right) => complete(right, offer));
  const isComplete = completed.every((right, index) => right === parsed[index]);
  const rights = isComplete ? parsed : completed;
  const [contradiction = wholeWithPart(rights, offer.catalogue)] =
    CONTRADICTIONS.find(([, broken]) => broken(rights)) ?? [];
  if (contradiction !== undefined) {
    const message = 'The requested rights contradict each other.';
    throw new OAuthError('contradiction', message, `scope: ${contradiction}`);
  }
  if (client.most !== null) for (const right of rights) refuseExcess(right, client.most);
  return { rights, scope: isComplete ? scope : formatScope(rights) };
}

function refuseUnavailable(right: Right, offer: Offer, { allowedRights }: Asking): void {
  const { name } = right;
  if (offer.defaultLimit !== null && !offer.catalogue.has(name)) {
    const message = 'The parameter scope requests a right that this service does not offer.';
    if (/^(openid|profile|email)$/.test(name))
      throw new OAuthError('openid_scope', message, `scope: ${name} is only for OpenID providers`);
    throw new OAuthError('right_not_offered', message, `scope: ${name} is not in the catalogue`);
  }
  const misformed = formProblem(right, offer);
  if (misformed)
    throw new OAuthError('unreadable_rights', INVALID_RIGHT_MESSAGE, `scope: ${name} ${misformed}`);
  if (allowedRights === null || allowedRights.includes(name)) return;
  const message = 'The application may not request one of these rights.';
  throw new OAuthError('right_not_allowed', message, `scope: the application may not request ${name}`);
}

/** The grammar reads any form of a right that is not built in. @returns the end of a sentence; false for none */
function formProblem(
  { name, target, type, limit }: Right,
  { catalogue, defaultLimit, furtherLimits }: Offer,
) {
  const unknown = FURTHER_LIMITS.find((one) => limit?.[one] !== undefined && !furtherLimits.includes(one));
  if (unknown !== undefined) return `has .${unknown}, which LIMITS of this service does not name`;
  const kind = kindOf(name, catalogue);
  if (kind === undefined) return false;
  const needsTarget = kind.names === 'shop' || kind.names === 'account';
  if (needsTarget !== (target !== undefined)) return needsTarget ? 'needs a target' : 'accepts no target';
  if (kind.names === 'shop' && type !== undefined) return 'accepts one target';
  if (limit === undefined) return kind.spends && defaultLimit === null && 'needs a limit';
  return !kind.spends && 'accepts no limit: it does not spend';
}

/**
 * Writes out what a request leaves to the operator: the account's type, and the limit, but for the built-in right's default. So a
 * grant keeps its meaning whatever is set later: nothing is raised that the user did not see.
 */
function complete(right: Right, { catalogue, currency, defaultLimit }: Offer): Right {
  const kind = kindOf(right.name, catalogue);
  const { type = kind?.names === 'account' ? 'account' : undefined, limit } = right;
  const isOther = limit?.days !== defaultLimit?.days || limit?.sum !== defaultLimit?.sum;
  const unwritten = (limit === undefined ? kind?.spends : limit.isDefault && isOther) ? defaultLimit : null;
  if (type === right.type && !unwritten) return right;
  return { ...right, type, limit: unwritten ? { ...unwritten, currency } : limit };
}

/**
 * Resource servers that split a scope at spaces would break a target with white space. An email address in look-alike letters
 * is another user's; numbers of shops and accounts are the service's own, in any letters.
 */
function refuseUnclear({ name, target = '', type }: Right): void {
  const isMixed = type === 'email' && !hasWordsOfOneScript(target);
  const unclear =
    findInvisibleCharacter(target) ?? (isMixed ? 'letters of several scripts in one word' : undefined);
  if (unclear === undefined) return;
  const message = 'A target in the parameter scope has invisible or ambiguous characters.';
  throw new OAuthError('unclear_target', message, `scope: the target of ${name} has ${unclear}`);
}

function refuseExcess({ name, limit }: Right, most: Ceiling): void {
  if (limit === undefined || !exceeds(limit, most)) return;
  const message = 'The requested limit exceeds the maximum of this application.';
  const [ceiling, asked] = [`${most.days},${most.sum}`, `${limit.days ?? ''},${limit.sum}`];
  const rule = `scope: ${name} has ${asked}, and the maximum of the application is ${ceiling}`;
  throw new OAuthError('above_ceiling', message, rule);
}

/** Refuses a right that ends before today, or after a token issued now. @throws {OAuthError} `invalid_scope` */
export function refuseWrongDays(rights: readonly Right[], now: Date): void {
  const [today, last] = [dayOf(now), dayOf(tokenExpiresAt(now))];
  for (const { name, limit } of rights) {
    const { until = today } = limit ?? {};
    if (until < today) {
      const message = 'A right in the parameter scope ends on a day that is past.';
      throw new OAuthError('ended_right', message, `scope: ${name} ended on ${until}, in UTC`);
    }
    if (until > last) {
      const message = 'A right in the parameter scope ends later than its token.';
      const rule = `scope: ${name} ends on ${until}, and its token on ${last}, in UTC`;
      throw new OAuthError('right_outlives_token', message, rule);
    }
  }
}

/** The cases of "logically contradictory" (contract 7.1), beside a whole with its part. */
const CONTRADICTIONS: readonly (readonly [rule: string, broken: (rights: readonly Right[]) => boolean])[] = [
  ['the same right twice', (rights) => hasTwins(rights, rightKeyOf)],
  ['two targets that look alike', (rights) => hasTwins(rights, lookOf)],
  ['a source of money named twice', (rights) => rights.some(({ sources = [] }) => hasTwins(sources, String))],
  [
    'a payment larger than all of them together',
    (rights) => rights.some(({ limit }) => limit && largestPayment(limit) > hundredths(limit)),
  ],
  [
    'a period limit and a one-time limit',
    (rights) => rights.some(isOneTime) && rights.some(({ limit }) => typeof limit?.days === 'number'),
  ],
  [
    'a one-time payment with anything but money-source and account-info',
    (rights) =>
      rights.some(isOneTime) &&
      rights.filter(({ name }) => !BUILT_IN_RIGHTS.get(name)?.goesWithOneTime).length > 1,
  ],
];

/** Equal for the same right, whatever its limit. @param spell maps two spellings of one target to the same */
export function rightKeyOf({ name, target, type }: Right, spell = (text: string) => text.normalize('NFKC')) {
  return JSON.stringify([name, target && spell(target), type]);
}

/** Equal for two lines that look the same on a page. A phone number is shown with its plus, which is optional in a scope. */
function lookOf(right: Right): string {
  const sign = right.type === 'phone' ? /^\+/ : '';
  return rightKeyOf(right, (target) => skeleton(replaceQuotationMarks(target).replace(sign, '')));
}

function hasTwins<Item>(items: readonly Item[], by: (item: Item) => string): boolean {
  return new Set(items.map((item) => by(item))).size < items.length;
}

/** A right to pay all of a kind, together with one to pay one of them. */
function wholeWithPart(rights: readonly Right[], catalogue: RightKinds): string | undefined {
  const wholeOf = (name: string) => kindOf(name, catalogue)?.isPartOf;
  for (const { name } of rights)
    for (let whole = wholeOf(name); whole !== undefined; whole = wholeOf(whole))
      if (rights.some((right) => right.name === whole)) return `${whole} with ${name}`;
  return undefined;
}

function isOneTime({ limit }: Right): boolean {
  return limit?.days === null;
}
