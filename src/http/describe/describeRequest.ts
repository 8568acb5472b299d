import type { ConsentStep, RequestedAccess } from '../../flows/authorize/authorize.ts';
import { takesPassword } from '../../flows/authorize/confirmPayment.ts';
import { limitsToLower } from '../../flows/authorize/decisionForms.ts';
import { inSentence, isolated } from '../../languages/formats.ts';
import { type Texts, withValues } from '../../languages/languages.ts';
import { type DescribedRight, describeRights } from '../../languages/rights.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { type Client, logoPath } from '../../rules/request/client.ts';
import type { Right } from '../../rules/scope/scope.ts';
import { boundsOf } from '../../rules/spending/bounds.ts';
import { lowerLimits } from '../../rules/spending/lowering.ts';
import { mostWithin, worstCase } from '../../rules/spending/worstCase.ts';
import { limitField } from '../browser/forms.ts';
import { describeTarget, type PageLanguage, toPasswords } from './describe.ts';
import { type DescribedChange, describeChanges, describeTogether } from './describeLimits.ts';

/** A request, for the page that allows it (contract 1.2). @param typed invalid sums, null for none */
export function describeRequest(step: ConsentStep, typed: TypedLimits | null, words: PageLanguage) {
  const { authorizationRequest, earlier, needsConfirmation, user } = step;
  const { rights, client, redirectUri, instanceName, canonicalQuery } = authorizationRequest;
  const { formats, request } = words.texts;
  const changes = describeChanges(step, words);
  const fields = new Map(
    limitsToLower(authorizationRequest).map((one) => [one.index, describeField(one, typed, words.texts)]),
  );
  const asked = describeRights(rights, words).map(
    (right, index): RightOnPage => ({
      change: changes?.byRight.get(right.isSource ? null : (rights[index] ?? null)) ?? null,
      field: fields.get(index) ?? null,
      ...right,
    }),
  );
  const others = asked.filter(({ spending, isSource }) => !spending && !isSource);
  const money = describeMoney(rights, asked, request.lead || null, step, words);
  const isUnknown = step.firstSeen && !client.reviewed;
  const lacksPassword = money !== null && !user.hasPaymentPassword && takesPassword(words);
  return {
    client: describeClient(client, words),
    firstSeen: isUnknown ? request.firstSeen({ day: formats.day(client.createdAt, words.timeZone) }) : null,
    money,
    besides: describeOthers(step, words),
    // Unchanged and without spending: no need to read it again.
    can: others.filter(({ change }) => change?.isSame !== true),
    unchanged: others
      .filter(({ change }) => change?.isSame === true)
      .map((right) => ({ ...right, change: null })),
    dropped: changes?.dropped ?? [],
    isSame: changes?.byRight.size === 0,
    cannot: formats.oneOf(boundsOf(rights, words.catalogue).map((bound) => request.bounds[bound])),
    validUntil: money === null ? formats.day(step.expiresAt, words.timeZone) : null,
    returnsTo: describeTarget(redirectUri),
    returnsElsewhere: isElsewhere(client.site, redirectUri),
    needsConfirmation,
    lacksPassword,
    passwords: lacksPassword ? toPasswords(words, false) : [],
    earlierDay: earlier && formats.day(earlier.confirmedAt, words.timeZone),
    earlierLastUsed: earlier?.lastUsedOn ? formats.utcDay(earlier.lastUsedOn) : null,
    request: canonicalQuery,
    instanceName,
    userName: user.name,
    userLogin: user.login,
    signOutToken: step.signOutToken,
  };
}

/** Rights as a user granted them, to confirm them, or to say so afterwards. */
export function describeGranted(
  rights: readonly Right[],
  authorizationRequest: AuthorizationRequest,
  until: Pick<RequestedAccess, 'expiresAt' | 'daysLeft'>,
  words: PageLanguage,
) {
  const { formats, request } = words.texts;
  const client = describeClient(authorizationRequest.client, words);
  const lead = request.leadOf({ client: client.name });
  const described = describeRights(rights, words).map((right) => ({ change: null, field: null, ...right }));
  const money = describeMoney(rights, described, lead, until, words);
  const others = described.filter(({ spending, isSource }) => !spending && !isSource);
  const acts = formats.allOf(others.map(sentenceIn));
  const also = acts === '' ? null : money === null ? `${lead} ${acts}` : request.also({ acts });
  const isAsked = rights.some(({ sources }) => sources);
  const most = money && { ...money, source: isAsked ? money.source : null, total: null };
  return { client, instanceName: authorizationRequest.instanceName, money: most, also };
}

function sentenceIn({ before, target, after, quotes }: DescribedRight): string {
  const named = target === null ? '' : quotes.open + isolated(target.join(' ')) + quotes.close;
  return inSentence(before) + named + after;
}

type RightOnPage = DescribedRight & {
  readonly change: DescribedChange | null;
  readonly field: ReturnType<typeof describeField> | null;
};

/** The most that rights can spend, and the share of each; null for nothing. */
function describeMoney(
  rights: readonly Right[],
  described: readonly RightOnPage[],
  lead: string | null,
  { expiresAt, daysLeft }: Pick<RequestedAccess, 'expiresAt' | 'daysLeft'>,
  { texts, timeZone }: PageLanguage,
) {
  const worst = worstCase(rights);
  if (worst === null) return null;
  const { formats, request } = texts;
  const { cost } = request;
  const spending = described.filter((right) => right.spending);
  const isOnly = spending.length === 1;
  const day = formats.day(expiresAt, timeZone);
  const total = { amount: formats.amount(mostWithin(rights, daysLeft)) };
  const amount = formats.amount(worst);
  const source = described.find(({ isSource }) => isSource) ?? null;
  // Such a sum could never be spent: its period exceeds the access's lifetime.
  const [sum, period] =
    worst.days === null
      ? isOnly
        ? [cost.exactly({ amount }), cost.once({ day })]
        : [cost.upTo({ amount }), cost.onceEach({ day })]
      : worst.days > daysLeft
        ? [cost.upTo(total), cost.inAll({ day })]
        : [cost.upTo({ amount }), cost.until({ days: worst.days, day })];
  return {
    /** Only one right spends: its limit is the sum. */
    isOnly,
    lead,
    sum,
    period,
    rights: spending,
    source,
    total: worst.days === null || worst.days > daysLeft ? null : cost.total(total),
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
    label: limits.label({ currency: formats.currency(limit.currency), days: limit.days ?? 1 }),
    problem:
      problem === undefined ? null : withValues(limits.problems[problem], { amount: formats.amount(limit) }),
  };
}

export function describeClient(client: Client, { brand, language, texts }: PageLanguage) {
  const { name, site, reviewed } = client;
  return {
    name,
    site: site && describeTarget(site),
    logo: logoPath(client),
    reviewed: reviewed ? texts.request.reviewed({ service: brand.name[language] }) : null,
  };
}

/** True if the browser goes to another site than the one under the application's name. */
function isElsewhere(site: string | null, redirectUri: string): boolean {
  if (site === null || !/^https?:/.test(redirectUri)) return false;
  const [known, next] = [site, redirectUri].map((url) => new URL(url).hostname.replace(/^www\./, ''));
  return known !== next && !known?.endsWith(`.${next}`) && !next?.endsWith(`.${known}`);
}

function describeOthers({ others }: RequestedAccess, { texts }: PageLanguage): string | null {
  const { besides, besidesMany } = texts.request;
  if (others === null) return besidesMany;
  return others.length === 0
    ? null
    : besides({ most: describeTogether(others, texts), count: others.length });
}
