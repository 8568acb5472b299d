import type { FastifyRequest } from 'fastify';
import { TEXTS, type Texts, withValues } from '../../languages/languages.ts';
import type { OAuthError } from '../../rules/common/error.ts';
import { recordOf } from '../../rules/common/recordOf.ts';
import { type OAuthErrorCode, RULES, type RuleId, remedyFor } from '../../rules/common/refusals.ts';
import { SERVER_ERROR_FIELDS } from '../../watch/refusals.ts';
import { returnPathOf, textsOf } from '../browser/language.ts';
import { accountLink } from '../describe/describe.ts';
import type { Page } from './page.ts';

type Reason = keyof Texts['errors']['reasons'];

/** The reason that an error page gives for a broken rule; several rules may share one. */
export function reasonOfRule(ruleId: RuleId): Reason {
  const { reason }: { readonly reason: Reason | null } = RULES[ruleId];
  return reason ?? (isReason(ruleId) ? ruleId : 'unreadable');
}

/** The cause of an error page: a fault of a request, or another dead end. */
export type Cause = Reason | keyof Texts['errors']['causes'];

/** The page's words after the cause: the party at fault, and the next step. */
interface WayOn {
  readonly fault: keyof Texts['errors']['faults'];
  readonly next: keyof Texts['errors']['next'];
  /** Replaces the title of the contract's code if that would be wrong. */
  readonly title?: keyof Texts['errors']['titles'];
}

/** The cause of a refused request's page. A form of ours without a known application's request was damaged: no application is at fault. */
export function causeOfRule(
  ruleId: RuleId,
  { path, method, clientName }: { path: string; method: string; clientName: string | null },
): Cause {
  const reason = reasonOfRule(ruleId);
  const isAboutForm = !/^(unknown_application|no_longer_possible|sign_in_.*)$/.test(reason);
  if (path === '/oauth/authorize' || !isAboutForm || clientName !== null) return reason;
  return method === 'GET' && ruleId === 'missing_parameter' ? 'notAllowed' : 'broken';
}

/** After a refused request: for every reason without a row of its own below. */
const OF_APPLICATION: WayOn = { fault: 'application', next: 'application' };
const SIGN_IN_AGAIN: WayOn = { fault: 'none', next: 'signIn', title: 'not_signed_in' };

/** All other error pages. test/pages/outlines/ has their texts. */
const WAYS_ON: Partial<Record<Cause, WayOn>> & Record<keyof Texts['errors']['causes'], WayOn> = {
  // Unknown or blocked, which is not revealed: the request may be valid.
  unknown_application: { fault: 'none', next: 'leave' },
  // Resembles an attack: a link by a third party that names a known application.
  wrong_return_address: { fault: 'application', next: 'doubt' },
  // The application or the user was blocked at the last moment; the page doesn't reveal which.
  no_longer_possible: { fault: 'none', next: 'support', title: 'no_longer_possible' },
  ...recordOf(['sign_in_lost', 'sign_in_no_cookies', 'sign_in_failed'], SIGN_IN_AGAIN),
  sign_in_other_user: { ...SIGN_IN_AGAIN, title: 'not_confirmed' },
  sign_in_wait: { fault: 'none', next: 'again', title: 'not_signed_in' },
  sign_in_refused: { fault: 'none', next: 'support', title: 'not_signed_in' },
  providerAway: { fault: 'none', next: 'again' },
  notFound: { fault: 'address', next: 'account' },
  notAllowed: { fault: 'none', next: 'account' },
  broken: { fault: 'between', next: 'account' },
  ...recordOf(['ourFault', 'unavailable'], { fault: 'ours', next: 'again' }),
};

/** A button's possible outcome after 500 or 503, by the path of its form. */
const PRESSED: Readonly<Record<string, keyof Texts['errors']['pressed']>> = {
  '/oauth/sign-in': 'signIn',
  '/oauth/sign-out': 'signOut',
  '/oauth/account/stop': 'stop',
  '/oauth/account/sessions/end': 'sessions',
  ...recordOf(['/oauth/confirm', '/oauth/consent'], 'decision'),
  ...recordOf(['/oauth/account/disconnect', '/oauth/account/disconnect-all'], 'disconnect'),
  ...recordOf(['/oauth/account/password', '/oauth/account/payment-password'], 'passwords'),
};

export interface ErrorPageInput extends Partial<Pick<OAuthError, 'clientName' | 'clientSite' | 'parameter'>> {
  readonly cause: Cause;
  /** The contract's code (7.1); null if there is none. */
  readonly code?: Exclude<OAuthErrorCode, 'invalid_grant'> | null;
}

export function errorPageTexts(
  { cause, code = null, clientName = null, clientSite = null, parameter = null }: ErrorPageInput,
  texts: Texts,
  { pressed, again }: { readonly pressed: string; readonly again: string },
) {
  const { titles, reasons, causes, faults, anApplication, next, passOn, ...errors } = texts.errors;
  const client = { client: clientName ?? anApplication };
  const way = WAYS_ON[cause] ?? OF_APPLICATION;
  const { title, text } = isReason(cause)
    ? { title: titles[way.title ?? code ?? 'invalid_request'], text: reasons[cause] }
    : causes[cause];
  const fault = faults[way.fault];
  const isOfApplication = way.fault === 'application' || way.next === 'leave';
  const did = way.next === 'again' ? PRESSED[pressed] : undefined;
  return {
    title,
    text: did === undefined ? text : `${text} ${errors.pressed[did]}`,
    fault: isReason(cause) ? `${fault} ${errors.unchanged}` : fault,
    next: withValues(next[way.next], client),
    link: ['again', 'signIn'].includes(way.next)
      ? { href: again, text: errors.tryAgain }
      : clientSite
        ? { href: clientSite, text: texts.receipt.onward(client) }
        : accountLink(texts),
    passOn: isOfApplication ? passOn(client) : errors.tellUs,
    code,
    parameter: isReason(cause) ? parameter : null,
  };
}

function isReason(cause: string): cause is Reason {
  return Object.hasOwn(TEXTS.en.errors.reasons, cause);
}

/** An error page. Trying again is a GET: of the same page or, after a form, of its request. */
export function describeError(request: FastifyRequest, deadEnd: ErrorPageInput) {
  const said = { pressed: request.routeOptions?.url ?? '', again: returnPathOf(request) };
  const texts = errorPageTexts(deadEnd, textsOf(request), said);
  return { ...texts, reference: request.id, explained: explain(request) };
}

export const ERROR_PAGE: Page<ReturnType<typeof describeError>> = { name: 'error', ownValues: ['reference'] };

/** The lower part of a notice, for developers and support. */
export function refusalOf(request: FastifyRequest) {
  const { anApplication, passOn, tellUs } = textsOf(request).errors;
  const isEmbedded = request.logFields?.rule_id === 'embedded'; // the application was not read
  const told = isEmbedded ? passOn({ client: anApplication }) : tellUs;
  return { passOn: told, reference: request.id, explained: explain(request) };
}

const ASK = 'Ask the service: its operators can change this, and find it by the reference.';

/** The rule and what a developer does about it, in trial mode. Operators have `assent explain`. */
function explain({ server, logFields }: FastifyRequest) {
  if (!server.context.showsRules) return null;
  const { rule, rule_id } = logFields ?? SERVER_ERROR_FIELDS;
  return { rule, remedy: remedyForDevelopers(rule_id) };
}

/** The remedy of a rule, if it needs no operator. */
export function remedyForDevelopers(ruleId: string | null): string {
  const remedy = remedyFor(ruleId);
  return /`assent |[A-Z]_[A-Z]|docs\/operate/.test(remedy) ? ASK : remedy;
}
