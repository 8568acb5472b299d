import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../../flows/common/context.ts';
import { endOwnSession } from '../../../flows/signIn/session.ts';
import { signIn } from '../../../flows/signIn/signIn.ts';
import { callerOf } from '../../../listener/caller.ts';
import { emit } from '../../../signals/events.ts';
import { clearCookie, forgetKeptLanguage, readCookies, setCookie } from '../../browser/cookies.ts';
import { carriedRequest, FORM_OPTIONS, isFromOwnPage, receiveForm } from '../../browser/forms.ts';
import { parseReturnPath } from '../../browser/language.ts';
import { COOKIE_CHECK, forgetOutcome, rememberOutcome } from '../../browser/outcomes.ts';
import { AGAIN, redirectToRequest, seeOther } from '../../browser/redirects.ts';
import { refuseAttempt } from '../../pages/formErrors.ts';
import { bodyParameters } from '../../request/parameters.ts';

/** Signing in by our own passwords and out, before a request or the account page (contract 5.1). */
export function signInRoutes(app: FastifyInstance, context: Context): void {
  if (context.provider === null) app.post('/oauth/sign-in', FORM_OPTIONS, receiveSignIn);
  app.post('/oauth/sign-out', FORM_OPTIONS, receiveSignOut);
}

async function receiveSignIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const form = bodyParameters(request);
  const authorizationRequest = await carriedRequest(request);
  const login = form.get('login')?.trim() ?? ''; // phones add a space after a completed word
  const password = form.get('password') ?? '';
  const isOwn = isFromOwnPage(request);
  const formToken = isOwn ? form.get('form_token') : undefined;
  const cookies = readCookies(request);
  const sent = { authorizationRequest, login, password, formToken };
  const attempt = signIn(request.server.context, sent, cookies, callerOf(request));
  attempt.then(
    ({ outcome }) => emit('signIn', outcome),
    () => emit('signIn', 'unavailable'),
  );
  const result = await attempt;
  if (result.outcome === 'signed_in') keepSignedIn(reply, result);
  else if (result.outcome === 'stale') rememberOutcome(reply, 'not_signed_in', authorizationRequest);
  else refuseAttempt(reply, result, 'signIn', authorizationRequest, [login]);
  // The sign-in page again says why, or hints that cookies are off.
  const isLost = result.outcome === 'stale' && cookies.preLogin === null && isOwn;
  if (authorizationRequest === null && !isLost) return seeOther(reply, parseReturnPath(form));
  return redirectToRequest(reply, authorizationRequest, isLost ? COOKIE_CHECK : '');
}

async function receiveSignOut(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { context } = request.server;
  const { form, session } = await receiveForm(request);
  // Before the request is checked: signing out must work even if the request can't continue.
  const outcome =
    session && (await endOwnSession(context, session, form.get('form_token'), callerOf(request)));
  if (outcome === 'signed_out') {
    clearCookie(reply, 'session');
    forgetKeptLanguage(reply);
    forgetOutcome(reply);
  }
  const authorizationRequest = await carriedRequest(request);
  // The account page itself shows who is signed in.
  if (outcome === 'stale' && authorizationRequest !== null)
    rememberOutcome(reply, 'not_signed_out', authorizationRequest);
  if (outcome === 'signed_out') rememberOutcome(reply, outcome, authorizationRequest);
  const more = outcome === 'signed_out' && context.provider !== null ? AGAIN : '';
  return redirectToRequest(reply, authorizationRequest, more);
}

/** Sets the cookies of a new session. The pre-login session continues: a sign-in form in another tab stays valid. */
export function keepSignedIn(
  reply: FastifyReply,
  opened: Record<'sessionCookie' | 'deviceCookie', string> & Record<'seenCookie' | 'language', string | null>,
): void {
  setCookie(reply, 'session', opened.sessionCookie);
  setCookie(reply, 'device', opened.deviceCookie);
  if (opened.seenCookie !== null) setCookie(reply, 'seen', opened.seenCookie);
  if (opened.language === null) forgetKeptLanguage(reply);
  else setCookie(reply, 'language', `${opened.language}.`);
  forgetOutcome(reply);
}
