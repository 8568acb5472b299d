import type { RequestedAccess } from '../../flows/authorize/authorize.ts';
import { limitsToLower } from '../../flows/authorize/decide.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { logoPath } from '../../rules/request/client.ts';
import { type Right, spends } from '../../rules/scope/scope.ts';
import { boundsOf } from '../../rules/spending/bounds.ts';
import type { LoweringProblem } from '../../rules/spending/lowering.ts';
import { mostWithin, worstCase } from '../../rules/spending/worstCase.ts';
import { limitField } from '../browser/forms.ts';
import {
  type DescribedRight,
  describeLimit,
  describeRight,
  describeRights,
  describeTarget,
  type Words,
} from './describe.ts';
import { describeChanges } from './describeChanges.ts';
import { describeTogether } from './describeSpending.ts';

/** Who asks whom, and the most that it may cost: what every page between sign-in and the answer says. */
export function describeAsking(access: RequestedAccess, words: Words) {
  const { authorizationRequest, user, signOutToken } = access;
  const { redirectUri, canonicalQuery, instanceName } = authorizationRequest;
  return {
    request: canonicalQuery,
    client: describeClient(authorizationRequest, words),
    instanceName,
    returnsTo: describeTarget(redirectUri),
    userName: user.name,
    userLogin: user.login,
    cost: describeCost(access, words),
    signOutToken,
  };
}

/** A request, for the page on which it is allowed (contract 1.2). */
export function describeRequest(access: RequestedAccess, words: Words) {
  const { authorizationRequest, expiresAt, earlier } = access;
  const { rights } = authorizationRequest;
  const { formats, request } = words.texts;
  const asking = describeAsking(access, words);
  const limits = describeLimits(rights, asking.cost, words);
  return {
    firstSeen: describeFirstSeen(access, words),
    others: describeOthers(access, words),
    rights: limits.rights,
    together: limits.together,
    cannot: request.cannot.sentence(
      formats.oneOf(boundsOf(rights).map((bound) => request.cannot.bounds[bound])),
    ),
    /** Where no limit says it. */
    validUntil:
      worstCase(rights)?.days || rights.every(endsWithOnePayment)
        ? null
        : formats.day(expiresAt, words.timeZone),
    changes: describeChanges(access, words),
    earlierDay: earlier && formats.day(earlier.confirmedAt, words.timeZone),
    earlierLastUsed: earlier?.lastUsedOn ? formats.utcDay(earlier.lastUsedOn) : null,
    // Last: V8 of Node 20 takes a microsecond for each property that is added to a copy.
    ...asking,
  };
}

/** The rights with their limits, and the most that they can cost together, which the only limit says itself, with its end. */
function describeLimits(
  asked: readonly Right[],
  cost: string | null,
  words: Words,
): { rights: readonly DescribedRight[]; together: string | null } {
  const rights = describeRights(asked, words);
  const [only, ...more] = rights.filter(({ spending }) => spending);
  if (only?.limit && more.length === 0 && cost?.startsWith(only.limit))
    return {
      rights: rights.map((right) => (right === only ? { ...right, limit: cost } : right)),
      together: null,
    };
  return { rights, together: cost && words.texts.request.cost.together(cost) };
}

export function describeGuard({ authorizationRequest: { rights }, user }: RequestedAccess, { texts }: Words) {
  const isSecondStep = spends(rights) && user.hasPaymentPassword;
  return {
    isSecondStep,
    /** Pressing Allow is enough to let money go. */
    unguarded: spends(rights) && !isSecondStep ? texts.consent.unguarded : null,
  };
}

/** The fields of the limits in a form that is shown again, by the index of the right. */
export interface TypedLimits {
  readonly sums: ReadonlyMap<number, string>;
  readonly problems: ReadonlyMap<number, LoweringProblem>;
}

/** The fields of those limits that the user may lower. */
export function describeLimitFields(
  { authorizationRequest }: Pick<RequestedAccess, 'authorizationRequest'>,
  typed: TypedLimits | null,
  words: Words,
) {
  const { formats, consent } = words.texts;
  return limitsToLower(authorizationRequest).map(({ index, right, limit }) => {
    const problem = typed?.problems.get(index);
    return {
      name: limitField(index),
      right: describeRight(right, words),
      hint: consent.limits.hint(describeLimit(limit, words.texts)),
      value: typed?.sums.get(index) ?? formats.plain(limit.sum),
      unit: consent.limits.unit(formats.currency(limit.currency), limit.days ?? 1),
      problem: problem === undefined ? null : consent.limits.problems[problem](formats.amount(limit)),
    };
  });
}

export function describeClient(
  { client }: Pick<AuthorizationRequest, 'client'>,
  { brand, language, texts }: Words,
) {
  const { name, site, reviewed } = client;
  return {
    name,
    site: site && describeTarget(site),
    logo: logoPath(client),
    reviewed: reviewed ? texts.request.reviewed(brand.name[language]) : null,
  };
}

function describeFirstSeen(
  { authorizationRequest: { client, redirectUri }, firstSeen }: RequestedAccess,
  { timeZone, texts }: Words,
): string | null {
  if (!firstSeen || client.reviewed) return null;
  const { formats, request } = texts;
  return request.firstSeen(client.name, formats.day(client.createdAt, timeZone), describeTarget(redirectUri));
}

/** The most that is asked, with its end, for example "At most RUB 45,000 in any 30 days, until 21 November 2029"; null for nothing. */
function describeCost(
  { authorizationRequest: { rights }, expiresAt, daysLeft }: RequestedAccess,
  { texts, timeZone }: Words,
): string | null {
  const { formats, request } = texts;
  const { cost } = request;
  const worst = worstCase(rights);
  if (worst === null) return null;
  const limit = describeLimit(worst, texts);
  if (worst.days === null) return cost.once(limit);
  const validUntil = formats.day(expiresAt, timeZone);
  // A sum for a longer time than the access lives could never be spent.
  return worst.days > daysLeft
    ? cost.inAll(formats.amount(mostWithin(rights, daysLeft)), validUntil)
    : cost.until(limit, validUntil);
}

/** The application's other connections, as one sum; null for none that spends. */
function describeOthers(
  { authorizationRequest: { client }, others }: RequestedAccess,
  { texts }: Words,
): string | null {
  const { besides } = texts.request;
  if (others === null) return besides.unknown(client.name);
  return others.length === 0 ? null : besides.known(client.name, describeTogether(others, texts));
}

/** Worth nothing after one payment, so that no day says when it ends. */
function endsWithOnePayment(right: Right): boolean {
  return right.limit?.days === null || right.name === 'money-source';
}
