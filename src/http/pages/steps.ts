import type { FastifyReply } from 'fastify';
import type { PaymentPasswordStep, Step } from '../../flows/authorize/authorize.ts';
import { type Session, signOutToken } from '../../flows/signIn/session.ts';
import type { SignInStep } from '../../flows/signIn/signIn.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { setCookie } from '../browser/cookies.ts';
import { requestPath } from '../browser/language.ts';
import { COOKIE_CHECK, requestNote, signInNote } from '../browser/outcomes.ts';
import { wordsFor } from '../describe/describe.ts';
import {
  describeAsking,
  describeClient,
  describeGuard,
  describeRequest,
  type TypedLimits,
} from '../describe/describeRequest.ts';
import { showFull } from './notices.ts';
import type { SignInPage } from './pages.ts';
import { showPage } from './views.ts';

/** Redirects to one of our paths. 303 ends the post, so reload and Back work. */
export function seeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(reply.server.context.baseUrl + path, 303);
}

/** To the request, whose next step is chosen again; without one to the account page. */
export function backToRequest(reply: FastifyReply, request: AuthorizationRequest | null): FastifyReply {
  return seeOther(reply, request === null ? '/account' : requestPath(request));
}

/** Like {@link backToRequest}, for a form without our cookie: the next page checks for one. */
export function backWithCookieCheck(reply: FastifyReply, request: AuthorizationRequest | null): FastifyReply {
  const path = request === null ? '/account?' : `${requestPath(request)}&`;
  return seeOther(reply, path + COOKIE_CHECK);
}

/** Shows the page of a step. @param error the reason for showing its form again */
export function showStep(reply: FastifyReply, step: Step, error: string | null = null): FastifyReply {
  if (step.step === 'sign-in') return showSignIn(reply, step);
  if (step.step === 'full') return showFull(reply, step.authorizationRequest);
  if (step.step === 'consent') return showConsent(reply, step);
  return showPage(reply, {
    name: 'payment-password',
    undone: error === null ? requestNote(reply.request, step) : null,
    keptAs: keptAs(step.user),
    formToken: step.formToken,
    error,
    ...describeAsking(step, wordsFor(reply.request)),
  });
}

/** The page that can only reject, instead of the payment password's. */
export function showReject(reply: FastifyReply, step: PaymentPasswordStep): FastifyReply {
  const words = wordsFor(reply.request);
  const { authorizationRequest, earlier, rejectToken } = step;
  const { formats, reject } = words.texts;
  const { name } = authorizationRequest.client;
  return showPage(reply, {
    name: 'reject',
    decisionToken: rejectToken,
    back: requestPath(authorizationRequest),
    stays: earlier && reject.stays(name, formats.day(earlier.confirmedAt, words.timeZone)),
    ...describeAsking(step, words),
  });
}

/** The same in each language: browsers fill in by this exact name. */
export function keptAs({ login }: { readonly login: string }): string {
  return `${login} (payment)`;
}

/** @param typed invalid sums: the form is shown again */
export function showConsent(
  reply: FastifyReply,
  step: Extract<Step, { step: 'consent' }>,
  typed: TypedLimits | null = null,
): FastifyReply {
  const words = wordsFor(reply.request);
  return showPage(reply, {
    name: 'consent',
    undone: typed === null ? requestNote(reply.request, step) : null,
    decisionToken: step.decisionToken,
    error: typed && words.texts.consent.limits.undone,
    ...describeGuard(step, words),
    ...describeRequest(step, typed, words),
  });
}

export function showSignIn(
  reply: FastifyReply,
  { authorizationRequest, formToken, newCookie }: SignInStep,
  said: Partial<Pick<SignInPage, 'login' | 'error' | 'undone'>> = {},
): FastifyReply {
  if (newCookie !== null) setCookie(reply, 'preLogin', newCookie);
  const request = authorizationRequest?.canonicalQuery ?? null;
  const client = authorizationRequest && describeClient(authorizationRequest, wordsFor(reply.request));
  const { login = '', error = null } = said;
  const note = error === null ? signInNote(reply.request, authorizationRequest) : null;
  const undone = said.undone ?? note;
  return showPage(reply, { name: 'sign-in', request, formToken, client, login, error, undone });
}

export function ownPage(session: Session, { server }: FastifyReply) {
  const { name: userName, login: userLogin } = session.user;
  return { userName, userLogin, signOutToken: signOutToken(server.context, session) };
}
