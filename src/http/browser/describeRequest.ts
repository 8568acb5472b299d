import type { RequestedAccess } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { limitsToLower } from '../../flows/decide.ts';
import { type Language, TEXTS } from '../../languages/languages.ts';
import { logoPath } from '../../rules/client.ts';
import { differenceOf, type RightChange } from '../../rules/difference.ts';
import type { LoweringProblem } from '../../rules/lowering.ts';
import { effectiveLimit, type Right, spends } from '../../rules/scope.ts';
import { worstCase } from '../../rules/worstCase.ts';
import { describeLimit, describeRight, describeRights, describeTarget, type Words } from './describe.ts';
import { limitField } from './forms.ts';
import type { DescribedChange, DescribedChanges, DescribedClient, LimitField, RequestPage } from './pages.ts';

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
    client: describeClient(context, access, language),
    instanceName,
    returnsTo: describeTarget(redirectUri),
    userName: user.name,
    userLogin: user.login,
    cost: describeCost(context, rights, validUntil, language),
    rights: describeRights(rights, context, language),
    dayNote: hasDays ? request.dayNote : null,
    cannot: describeBounds(rights, language),
    validUntil: rights.every(endsWithOnePayment) ? null : validUntil,
    changes: describeChanges(context, access, language),
    signOutToken,
  };
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
      problem: problem === undefined ? null : consent.limits.problems[problem](asked),
    };
  });
}

function describeClient(
  { brand }: Pick<Context, 'brand'>,
  { authorizationRequest: { client }, firstSeen }: RequestedAccess,
  language: Language,
): DescribedClient {
  const { request } = TEXTS[language];
  const service = brand.name[language];
  return {
    name: client.name,
    site: client.site && describeTarget(client.site),
    logo: logoPath(client),
    reviewed: client.reviewed ? request.reviewed(service) : null,
    firstSeen: firstSeen && !client.reviewed ? request.firstSeen(client.name) : null,
  };
}

/** The most that the rights can cost, for example "At most RUB 45,000 in any 30 days, and nothing after 21 November 2029". */
function describeCost(
  { currency }: Words,
  rights: readonly Right[],
  validUntil: string,
  language: Language,
): string {
  const { formats, request } = TEXTS[language];
  const worst = worstCase(rights);
  switch (worst.kind) {
    case 'none':
      return request.cost.none;
    case 'once':
      return request.cost.once(formats.amount(worst.amount, currency));
    case 'period': {
      const limit = describeLimit({ days: worst.days, sum: worst.amount }, currency, language);
      return request.cost.until(limit, validUntil);
    }
  }
}

function describeBounds(rights: readonly Right[], language: Language): string[] {
  const { cannot } = TEXTS[language].request;
  return [spends(rights) ? cannot.spendMore : cannot.spend, cannot.seePasswords, cannot.passOn];
}

/** Whether a right is worth nothing after one payment, so that no day says when it ends. */
function endsWithOnePayment(right: Right): boolean {
  return effectiveLimit(right)?.days === null || right.name === 'money-source';
}

function describeChanges(
  words: Words,
  { authorizationRequest: { client, rights }, earlier }: RequestedAccess,
  language: Language,
): DescribedChanges | null {
  if (earlier === null) return null;
  const { formats, request } = TEXTS[language];
  const { replaces, lastUsed, neverUsed } = request.changes;
  const all = differenceOf(earlier.rights, rights).map((change) => describeChange(words, change, language));
  return {
    replaces: replaces(client.name, formats.day(earlier.confirmedAt, words.timeZone)),
    lastUse: earlier.lastUsedOn === null ? neverUsed : lastUsed(formats.utcDay(earlier.lastUsedOn)),
    changed: all.filter(({ change }) => change !== 'unchanged'),
    unchanged: all.filter(({ change }) => change === 'unchanged'),
  };
}

function describeChange(
  words: Words,
  { change, right, before, after }: RightChange,
  language: Language,
): DescribedChange {
  const texts = TEXTS[language].request.changes;
  const [old, asked] = [before, after].map(
    (limit) => limit && describeLimit(limit, words.currency, language),
  );
  const isOther = old && asked && change !== 'unchanged';
  const only = asked ?? old;
  return {
    label: texts.labels[change],
    change,
    right: describeRight(right, words, language),
    limits: isOther ? [texts.before(old), texts.after(asked)] : only ? [only] : [],
  };
}
