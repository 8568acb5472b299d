import type { FastifyReply } from 'fastify';
import type { PaymentPasswordStep, Step } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { type Session, signOutToken } from '../../flows/session.ts';
import type { SignInStep } from '../../flows/signIn.ts';
import { TEXTS } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { setCookie } from './cookies.ts';
import {
  describeClient,
  describeGuard,
  describeLimitFields,
  describeRequest,
  type TypedLimits,
} from './describeRequest.ts';
import { languageOf } from './language.ts';
import { showFull } from './notices.ts';
import { COOKIE_CHECK, requestNote, signInNote } from './outcomes.ts';
import type { SignInPage } from './pages.ts';
import { showPage } from './views.ts';

/** The path of a request's page. */
export function requestPath({ canonicalQuery }: AuthorizationRequest): string {
  return `/oauth/authorize?${canonicalQuery}`;
}

/** Sends the browser to a path of ours. 303: the post is over, and reload and Back work. */
export function seeOther(reply: FastifyReply, { baseUrl }: Context, path: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(baseUrl + path, 303);
}

/** Sends the browser back to the request, where the next step is decided afresh; without one to the account page. */
export function backToRequest(
  reply: FastifyReply,
  context: Context,
  authorizationRequest: AuthorizationRequest | null,
): FastifyReply {
  const path = authorizationRequest === null ? '/account' : requestPath(authorizationRequest);
  return seeOther(reply, context, path);
}

/** Like {@link backToRequest}, when a form came without our cookie: the page that follows looks whether there is one now. */
export function backWithCookieCheck(
  reply: FastifyReply,
  context: Context,
  authorizationRequest: AuthorizationRequest | null,
): FastifyReply {
  const path = authorizationRequest === null ? '/account?' : `${requestPath(authorizationRequest)}&`;
  return seeOther(reply, context, path + COOKIE_CHECK);
}

/** Shows the page of a step. @param error why its form is shown again */
export function showStep(
  reply: FastifyReply,
  context: Context,
  step: Step,
  error: string | null = null,
): FastifyReply {
  if (step.step === 'sign-in') return showSignIn(reply, context, step);
  if (step.step === 'full')
    return showFull(reply, requestPath(step.authorizationRequest), step.authorizationRequest);
  if (step.step === 'consent') return showConsent(reply, context, step);
  const undone = error === null ? requestNote(reply.request, context, step) : null;
  const common = { ...describeRequest(context, step, languageOf(reply.request)), undone };
  const { formToken } = step;
  return showPage(reply, {
    name: 'payment-password',
    ...common,
    keptAs: keptAs(step.user),
    formToken,
    error,
  });
}

/** Shows the page that can only reject, in the place of the one that asks for the payment password. */
export function showReject(reply: FastifyReply, context: Context, step: PaymentPasswordStep): FastifyReply {
  const language = languageOf(reply.request);
  const { authorizationRequest, earlier, rejectToken } = step;
  const { formats, reject } = TEXTS[language];
  const { name } = authorizationRequest.client;
  return showPage(reply, {
    ...describeRequest(context, step, language),
    name: 'reject',
    decisionToken: rejectToken,
    back: requestPath(authorizationRequest),
    stays: earlier && reject.stays(name, formats.day(earlier.confirmedAt, context.timeZone)),
  });
}

/** The same in each language: a browser fills in what it keeps under exactly this name. */
export function keptAs({ login }: { readonly login: string }): string {
  return `${login} (payment)`;
}

/** Shows the consent page. @param typed what can't be granted, so that its form is shown again */
export function showConsent(
  reply: FastifyReply,
  context: Context,
  step: Extract<Step, { step: 'consent' }>,
  typed: TypedLimits | null = null,
): FastifyReply {
  const language = languageOf(reply.request);
  return showPage(reply, {
    name: 'consent',
    ...describeRequest(context, step, language),
    undone: typed === null ? requestNote(reply.request, context, step) : null,
    ...describeGuard(step, language),
    decisionToken: step.decisionToken,
    limits: describeLimitFields(context, step, typed, language),
    error: typed && TEXTS[language].consent.limits.undone,
  });
}

/** Shows the sign-in page. @param said beside its form: what was typed before, what is wrong, what was not done */
export function showSignIn(
  reply: FastifyReply,
  context: Context,
  { authorizationRequest, formToken, newCookie }: SignInStep,
  said: Partial<Pick<SignInPage, 'login' | 'error' | 'undone'>> = {},
): FastifyReply {
  if (newCookie !== null) setCookie(reply, context, 'preLogin', newCookie);
  const request = authorizationRequest?.canonicalQuery ?? null;
  const language = languageOf(reply.request);
  const client = authorizationRequest && describeClient(context, authorizationRequest, language);
  const { login = '', error = null } = said;
  const note = error === null ? signInNote(reply.request, context, authorizationRequest) : null;
  const undone = said.undone ?? note;
  return showPage(reply, { name: 'sign-in', request, formToken, client, login, error, undone });
}

/** What every page of a signed-in user has. */
export function ownPage(context: Context, session: Session) {
  const { name: userName, login: userLogin } = session.user;
  return { userName, userLogin, signOutToken: signOutToken(context, session) };
}
