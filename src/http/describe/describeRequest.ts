import type { RequestedAccess } from '../../flows/authorize/authorize.ts';
import { limitsToLower } from '../../flows/authorize/decide.ts';
import type { Texts } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { logoPath } from '../../rules/request/client.ts';
import { spends } from '../../rules/scope/scope.ts';
import { boundsOf } from '../../rules/spending/bounds.ts';
import { lowerLimits } from '../../rules/spending/lowering.ts';
import { mostWithin, worstCase } from '../../rules/spending/worstCase.ts';
import { limitField } from '../browser/forms.ts';
import { describeLimit, describeRights, describeTarget, type Words } from './describe.ts';
import { describeChanges } from './describeChanges.ts';
import { describeTogether } from './describeSpending.ts';

/** Application, user and maximal cost, for every page between sign-in and the answer. */
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
    signOutToken,
    ...describeCost(access, words),
  };
}

/** A request, for the page that allows it (contract 1.2). @param typed invalid sums, null for none */
export function describeRequest(access: RequestedAccess, typed: TypedLimits | null, words: Words) {
  const { authorizationRequest, earlier } = access;
  const { rights, client, redirectUri } = authorizationRequest;
  const { formats, request } = words.texts;
  const asking = describeAsking(access, words);
  const changes = describeChanges(access, words);
  const fields = new Map(
    limitsToLower(authorizationRequest).map((one) => [one.index, describeField(one, typed, words.texts)]),
  );
  const described = describeRights(rights, words);
  // The only limit states the cost itself, with its end.
  const [only = '', ...more] = described.flatMap(({ limit }) => limit ?? []);
  const saysCost = more.length === 0 && asking.cost?.startsWith(only) === true;
  const asked = described.map((right, index) => {
    // Null if nothing changed or nothing existed.
    const change = changes?.byRight.get(right.isSource ? null : (rights[index] ?? null)) ?? null;
    // Null if the user may not lower the limit.
    const field = fields.get(index) ?? null;
    const limit = right.limit && saysCost ? asking.cost : right.limit;
    return { change, field, ...right, limit };
  });
  // Unchanged and without spending: no need to read it again.
  const isFolded = ({ change, spending }: (typeof asked)[number]) => change?.isSame === true && !spending;
  return {
    firstSeen:
      access.firstSeen && !client.reviewed
        ? request.firstSeen(formats.day(client.createdAt, words.timeZone))
        : null,
    others: describeOthers(access, words),
    rights: asked.filter((right) => !isFolded(right)),
    unchanged: asked.filter(isFolded).map((right) => ({ ...right, change: null })),
    together: asking.cost && !saysCost ? request.cost.together(asking.cost) : null,
    dropped: changes?.dropped ?? [],
    isSame: changes?.byRight.size === 0,
    returnsElsewhere: isElsewhere(client.site, redirectUri),
    cannot: request.cannot.sentence(
      formats.oneOf(boundsOf(rights).map((bound) => request.cannot.bounds[bound])),
    ),
    earlierDay: earlier && formats.day(earlier.confirmedAt, words.timeZone),
    earlierLastUsed: earlier?.lastUsedOn ? formats.utcDay(earlier.lastUsedOn) : null,
    // Last: V8 of Node 20 takes a microsecond for each property added to a copy.
    ...asking,
  };
}

export function describeGuard(
  { authorizationRequest: { rights }, user, confirms }: RequestedAccess,
  { provider, texts }: Words,
) {
  return {
    isSecondStep: spends(rights) && user.hasPaymentPassword && provider?.paymentAcr == null,
    /** Set if pressing Allow suffices to spend. */
    unguarded: spends(rights) && !confirms ? texts.consent.unguarded : null,
  };
}

type TypedLimits = ReturnType<typeof typedLimits>;

/** The limit fields of a form shown again, by the index of the right. @param typed in the order of the page */
export function typedLimits(request: AuthorizationRequest, typed: readonly string[]) {
  const sums = new Map(limitsToLower(request).map(({ index }, at) => [index, typed[at] ?? '']));
  return { sums, problems: lowerLimits(request.rights, sums).problems };
}

function describeField(
  { index, limit }: ReturnType<typeof limitsToLower>[number],
  typed: TypedLimits | null,
  { formats, consent: { limits } }: Texts,
) {
  const problem = typed?.problems?.get(index);
  return {
    name: limitField(index),
    value: typed?.sums.get(index) ?? formats.plain(limit.sum),
    unit: limits.unit(formats.currency(limit.currency), limit.days ?? 1),
    problem: problem === undefined ? null : limits.problems[problem](formats.amount(limit)),
  };
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

/**
 * @returns `cost`: the requested maximum, such as "At most RUB 45,000 in any 30 days, until 21 November 2029"; null for nothing.
 * `total`: the same until the end, if a limit renews before it. `validUntil`: the end, if not in the cost
 */
function describeCost(
  { authorizationRequest: { rights }, expiresAt, daysLeft }: RequestedAccess,
  { texts, timeZone }: Words,
): Record<'cost' | 'total' | 'validUntil', string | null> {
  const { formats, request } = texts;
  const worst = worstCase(rights);
  const limit = worst && describeLimit(worst, texts);
  const end = formats.day(expiresAt, timeZone);
  if (worst === null || limit === null || worst.days === null) {
    // One payment ends the use of the whole access, so no page gives a day of its end.
    const endsEarlier = rights.every(({ name, limit }) => limit?.days === null || name === 'money-source');
    return { cost: limit && request.cost.once(limit), total: null, validUntil: endsEarlier ? null : end };
  }
  const total = formats.amount(mostWithin(rights, daysLeft));
  // Such a sum could never be spent: its period exceeds the access's lifetime.
  return worst.days > daysLeft
    ? { cost: request.cost.inAll(total, end), total: null, validUntil: null }
    : { cost: request.cost.until(limit, end), total: request.cost.upTo(total), validUntil: null };
}

/** True if the browser goes to another site than the one under the application's name. */
function isElsewhere(site: string | null, redirectUri: string): boolean {
  if (site === null || !/^https?:/.test(redirectUri)) return false;
  const [known, next] = [site, redirectUri].map((url) => new URL(url).hostname.replace(/^www\./, ''));
  return known !== next && !known?.endsWith(`.${next}`) && !next?.endsWith(`.${known}`);
}

/** The application's other connections, as one sum; null if none spends. */
function describeOthers({ others }: RequestedAccess, { texts }: Words): string | null {
  const { besides } = texts.request;
  if (others === null) return besides.unknown;
  return others.length === 0 ? null : besides.known(describeTogether(others, texts));
}
