import type { RequestedAccess } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { limitsToLower } from '../../flows/decide.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { boundsOf } from '../../rules/bounds.ts';
import { logoPath } from '../../rules/client.ts';
import type { LoweringProblem } from '../../rules/lowering.ts';
import { effectiveLimit, type Right, spends } from '../../rules/scope.ts';
import { mostWithin, worstCase } from '../../rules/worstCase.ts';
import { describeLimit, describeRight, describeRights, describeTarget, type Words } from './describe.ts';
import { describeChanges } from './describeChanges.ts';
import { describeTogether } from './describeSpending.ts';
import { limitField } from './forms.ts';
import type { ConsentPage, DescribedClient, LimitField, RequestPage } from './pages.ts';

/** What a request asks, for the pages that show it (contract 1.2). */
export function describeRequest(
  context: Words & Pick<Context, 'brand'>,
  access: RequestedAccess,
  language: Language,
): Omit<RequestPage, 'undone'> {
  const { authorizationRequest, user, expiresAt, signOutToken } = access;
  const { rights, redirectUri, canonicalQuery, instanceName } = authorizationRequest;
  const { formats, request } = TEXTS[language];
  const validUntil = formats.day(expiresAt, context.timeZone);
  const hasDays = rights.some((right) => typeof effectiveLimit(right)?.days === 'number');
  return {
    request: canonicalQuery,
    client: {
      ...describeClient(context, authorizationRequest, language),
      firstSeen: describeFirstSeen(context, access, language),
    },
    instanceName,
    returnsTo: describeTarget(redirectUri),
    userName: user.name,
    userLogin: user.login,
    cost: describeCost(context, access, validUntil, language),
    others: describeOthers(context, access, language),
    rights: describeRights(rights, context, language),
    dayNote: hasDays ? request.dayNote : null,
    cannot: describeBounds(rights, language),
    validUntil: rights.every(endsWithOnePayment) ? null : validUntil,
    changes: describeChanges(context, access, language),
    signOutToken,
  };
}

/** What a consent page says of the payment password. */
export function describeGuard(
  { authorizationRequest: { rights }, user }: RequestedAccess,
  language: Language,
): Pick<ConsentPage, 'isSecondStep' | 'unguarded'> {
  if (!spends(rights)) return { isSecondStep: false, unguarded: null };
  const { unguarded } = TEXTS[language].consent;
  return { isSecondStep: user.hasPaymentPassword, unguarded: user.hasPaymentPassword ? null : unguarded };
}

/** What a user typed in the fields of the limits, and what is wrong with it, by the places of the rights. */
export interface TypedLimits {
  readonly sums: ReadonlyMap<number, string>;
  readonly problems: ReadonlyMap<number, LoweringProblem>;
}

/** The fields of those limits that the user may lower. @param typed in a form that is shown again */
export function describeLimitFields(
  words: Words,
  { authorizationRequest }: Pick<RequestedAccess, 'authorizationRequest'>,
  typed: TypedLimits | null,
  language: Language,
): LimitField[] {
  const { formats, consent } = TEXTS[language];
  return limitsToLower(authorizationRequest).map(({ index, right, limit }) => {
    const problem = typed?.problems.get(index);
    const asked = formats.amount(limit.sum, words.currency);
    return {
      name: limitField(index),
      right: describeRight(right, words, language),
      hint: consent.limits.hint(describeLimit(limit, words.currency, language)),
      value: typed?.sums.get(index) ?? formats.plain(limit.sum),
      unit: consent.limits.unit(formats.currency(words.currency), limit.days ?? 1),
      problem: problem === undefined ? null : consent.limits.problems[problem](asked),
    };
  });
}

/** Who asks, as far as it is known of everybody. */
export function describeClient(
  { brand }: Pick<Context, 'brand'>,
  { client }: Pick<AuthorizationRequest, 'client'>,
  language: Language,
): DescribedClient {
  const { name, site, reviewed } = client;
  return {
    name,
    site: site && describeTarget(site),
    logo: logoPath(client),
    reviewed: reviewed ? TEXTS[language].request.reviewed(brand.name[language]) : null,
  };
}

function describeFirstSeen(
  { timeZone }: Pick<Context, 'timeZone'>,
  { authorizationRequest: { client, redirectUri }, firstSeen }: RequestedAccess,
  language: Language,
): string | null {
  if (!firstSeen || client.reviewed) return null;
  const { formats, request } = TEXTS[language];
  return request.firstSeen(client.name, formats.day(client.createdAt, timeZone), describeTarget(redirectUri));
}

/** The most that is asked, with its end, for example "At most RUB 45,000 in any 30 days, and nothing after 21 November 2029". */
function describeCost(
  { currency }: Words,
  { authorizationRequest: { rights }, daysLeft }: RequestedAccess,
  validUntil: string,
  language: Language,
): string {
  const { formats, request } = TEXTS[language];
  const { cost } = request;
  const worst = worstCase(rights);
  switch (worst.kind) {
    case 'none':
      return cost.none;
    case 'once':
      return cost.once(describeLimit({ days: null, sum: worst.amount }, currency, language));
    case 'period':
      // A sum for a longer time than the access lives could never be spent.
      return worst.days > daysLeft
        ? cost.inAll(formats.amount(mostWithin(rights, daysLeft), currency), validUntil)
        : cost.until(describeLimit({ days: worst.days, sum: worst.amount }, currency, language), validUntil);
  }
}

function describeBounds(rights: readonly Right[], language: Language): string[] {
  const { bounds } = TEXTS[language].request.cannot;
  return boundsOf(rights).map((bound) => bounds[bound]);
}

/** What the application can spend by all its other connections together, as one sum; null for nothing. */
function describeOthers(
  words: Words,
  { authorizationRequest: { client }, others }: RequestedAccess,
  language: Language,
): string | null {
  const { besides } = TEXTS[language].request;
  if (others === null) return besides.unknown(client.name);
  return others.length === 0 ? null : besides.known(client.name, describeTogether(words, others, language));
}

/** Whether a right is worth nothing after one payment, so that no day says when it ends. */
function endsWithOnePayment(right: Right): boolean {
  return effectiveLimit(right)?.days === null || right.name === 'money-source';
}
