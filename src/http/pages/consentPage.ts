import type { FastifyReply } from 'fastify';
import type { ConsentStep, RequestedAccess } from '../../flows/authorize/authorize.ts';
import { takesPassword } from '../../flows/authorize/confirmPayment.ts';
import { findReceipt } from '../../flows/authorize/decide.ts';
import { limitFields, signAllow, typedIn } from '../../flows/authorize/decisionForms.ts';
import { withValues } from '../../languages/languages.ts';
import { describeRights } from '../../languages/rights.ts';
import type { TokenLifetime } from '../../rules/common/lifetimes.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { listForbiddenActions } from '../../rules/spending/bounds.ts';
import { earlierEnds, lowerLimits } from '../../rules/spending/lowering.ts';
import { limitField, sessionOf } from '../browser/forms.ts';
import { lastOutcome, noteOn } from '../browser/outcomes.ts';
import { decisionPath } from '../browser/redirects.ts';
import { displayHostOf, type PageLocale, pageLocaleOf, passwordLinks } from '../describe/describe.ts';
import {
  describeClient,
  describeMoney,
  type LimitField,
  type RightOnPage,
} from '../describe/describeGranted.ts';
import { describeChanges, describeCombinedLimit } from '../describe/describeLimits.ts';
import { formErrorFor } from './formErrors.ts';
import type { FormFeedback, Page } from './page.ts';
import { showPage } from './views.ts';

type Fields = ReturnType<typeof describeRequest> &
  FormFeedback & {
    /** Signed over the contents of this page. */
    readonly decisionToken: string;
    /** The address of the application, after Back from it; null for none. */
    readonly onward: string | null;
  };

export const CONSENT_PAGE: Page<Fields> = {
  name: 'consent',
  ownValues: [
    'request',
    'userName',
    'userLogin',
    'instanceName',
    'signOutToken',
    'decisionToken',
    'earlierDay',
    'earlierLastUsed',
    'onward',
  ],
  leadsToApplication: true,
};

export async function showConsent(reply: FastifyReply, step: ConsentStep): Promise<FastifyReply> {
  const { authorizationRequest } = step;
  const failed = formErrorFor(reply, '/oauth/consent', authorizationRequest);
  const locale = pageLocaleOf(reply.request);
  const typed = failed?.typed.length ? typedLimits(locale, authorizationRequest, failed.typed) : null;
  return showPage(reply, CONSENT_PAGE, {
    undone: failed === null ? noteOn(reply, authorizationRequest, step.user) : null,
    onward: await findWayOn(reply, authorizationRequest),
    decisionToken: step.decisionToken,
    error: failed?.error ?? null,
    ...describeRequest(step, typed, locale),
  });
}

/** After Allow and Back: to the application by its code, while that lives, or else to its reviewed website. */
async function findWayOn(reply: FastifyReply, authorizationRequest: AuthorizationRequest) {
  const { outcome, typed: [token = ''] = [] } = lastOutcome(reply, authorizationRequest) ?? {};
  if (outcome !== 'allowed' && outcome !== 'spent') return null;
  const { client } = authorizationRequest;
  const session = await sessionOf(reply.request);
  const { context } = reply.server;
  const pending = session && { authorizationRequest, session };
  // The token of a page, or a decision that a page of ours had carried.
  const decision = (pending && signAllow(context, pending, token)) ?? token;
  const receipt = pending && (await findReceipt(context, pending, decision));
  if (receipt?.location) return decisionPath('/oauth/return', authorizationRequest, decision);
  return client.reviewed ? client.site : null;
}

/** A request, for the page that allows it (contract 1.2). @param typed invalid sums, null for none */
export function describeRequest(step: ConsentStep, typed: TypedLimits | null, locale: PageLocale) {
  const { authorizationRequest, earlier, needsConfirmation, user } = step;
  const { rights, client, redirectUri, instanceName, canonicalQuery } = authorizationRequest;
  const { formats, request } = locale.texts;
  const changes = describeChanges(step, locale);
  const fields = limitFields(locale, authorizationRequest);
  const fieldsOf = (index: number) =>
    fields.filter((field) => field.index === index).map((field) => describeField(field, typed, step, locale));
  const asked = describeRights(rights, locale).map(
    (right, index): RightOnPage => ({
      change: changes?.byRight.get(right.isSource ? null : (rights[index] ?? null)) ?? null,
      fields: fieldsOf(index),
      ...right,
    }),
  );
  const others = asked.filter(({ spending, isSource }) => !spending && !isSource);
  const money = describeMoney(rights, asked, request.lead || null, step, locale);
  const isUnknown = step.firstSeen && !client.reviewed;
  const lacksPassword = money !== null && !user.hasPaymentPassword && takesPassword(locale);
  return {
    client: describeClient(client, locale),
    firstSeen: isUnknown ? request.firstSeen({ day: formats.day(client.createdAt, locale.timeZone) }) : null,
    money,
    besides: describeOthers(step, locale),
    // Unchanged and without spending: no need to read it again.
    can: others.filter(({ change }) => change?.isSame !== true),
    unchanged: others
      .filter(({ change }) => change?.isSame === true)
      .map((right) => ({ ...right, change: null })),
    dropped: changes?.dropped ?? [],
    isSame: changes?.byRight.size === 0,
    cannot: formats.oneOf(
      listForbiddenActions(rights, locale.catalogue).map((bound) => request.bounds[bound]),
    ),
    validUntil: money === null ? formats.day(step.expiresAt, locale.timeZone) : null,
    returnsTo: displayHostOf(redirectUri),
    returnsElsewhere: isElsewhere(client.site, redirectUri),
    needsConfirmation,
    lacksPassword,
    passwords: lacksPassword ? passwordLinks(locale, false) : [],
    earlierDay: earlier && formats.day(earlier.confirmedAt, locale.timeZone),
    earlierLastUsed: earlier?.lastUsedOn ? formats.utcDay(earlier.lastUsedOn) : null,
    request: canonicalQuery,
    instanceName,
    userName: user.name,
    userLogin: user.login,
    signOutToken: step.signOutToken,
  };
}

type TypedLimits = ReturnType<typeof typedLimits>;

/** The limit fields of a form shown again. @param typed in the order of the page */
export function typedLimits(locale: PageLocale, request: AuthorizationRequest, typed: readonly string[]) {
  const limits = typedIn(limitFields(locale, request), typed);
  return { limits, problems: lowerLimits(request.rights, limits).problems };
}

function describeField(
  { index, limit, part }: ReturnType<typeof limitFields>[number],
  typed: TypedLimits | null,
  lifetime: TokenLifetime,
  { texts: { formats, consent }, timeZone }: PageLocale,
): LimitField {
  const { limits } = consent;
  const name = limitField(index, part);
  const entry = typed?.limits.get(index)?.[part];
  if (part === 'until') {
    const end = limit.until ? formats.utcDay(limit.until) : formats.day(lifetime.expiresAt, timeZone);
    const earlier = earlierEnds(limit, lifetime).map(({ day, months }) => {
      return { value: day, text: limits.earlier({ day: formats.utcDay(day), months }) };
    });
    const options = [{ value: '', text: end }, ...earlier];
    return { name, label: limits.ends, value: entry ?? '', problem: null, options };
  }
  const { currency, days } = limit;
  const label = { currency: formats.currency(currency), days: days ?? 1 };
  const sum = (part === 'each' && limit.each) || limit.sum;
  const problem = typed?.problems?.get(index)?.[part];
  const amount = formats.amount({ sum, currency });
  return {
    name,
    label: part === 'each' ? limits.largest(label) : limits.label(label),
    value: entry ?? formats.plain(sum),
    problem: problem === undefined ? null : withValues(limits.problems[problem], { amount }),
    options: null,
  };
}

/** True if the browser goes to another site than the one under the application's name. */
function isElsewhere(site: string | null, redirectUri: string): boolean {
  if (site === null || !/^https?:/.test(redirectUri)) return false;
  const [known, next] = [site, redirectUri].map((url) => new URL(url).hostname.replace(/^www\./, ''));
  return known !== next && !known?.endsWith(`.${next}`) && !next?.endsWith(`.${known}`);
}

function describeOthers({ others }: RequestedAccess, { texts }: PageLocale): string | null {
  const { besides, besidesMany } = texts.request;
  if (others === null) return besidesMany;
  return others.length === 0
    ? null
    : besides({ most: describeCombinedLimit(others, texts), count: others.length });
}
