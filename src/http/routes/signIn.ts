import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { signOut } from '../../flows/session.ts';
import { type SentSignIn, signIn, signInStep } from '../../flows/signIn.ts';
import { clearCookie, readCookies, setCookie } from '../browser/cookies.ts';
import { carriedRequest, isFromOwnPage, OWN_FORM, receiveForm } from '../browser/forms.ts';
import { refuseAttempt } from '../browser/notices.ts';
import { forgetOutcome, rememberOutcome } from '../browser/outcomes.ts';
import { backToRequest, backWithCookieCheck, showSignIn } from '../browser/steps.ts';
import { bodyParameters } from '../parameters.ts';
import { callerOf } from '../server/caller.ts';

/** A login is shown again up to this length: none is longer. */
const MAX_SHOWN = 512;

/** Signing in and out, on the way to a request or to the account page (contract 5.1). */
export function signInRoutes(app: FastifyInstance, context: Context): void {
  app.post('/sign-in', OWN_FORM, async (request, reply) => {
    const sent = await receiveSignIn(request, context);
    const cookies = readCookies(request, context);
    const result = await signIn(context, sent, cookies, callerOf(request));
    if (result.outcome === 'wrong' || result.outcome === 'wait') {
      const step = signInStep(context, sent.authorizationRequest, cookies.preLogin);
      const error = refuseAttempt(reply, context, result, 'signIn');
      return showSignIn(reply, context, step, { login: sent.login.slice(0, MAX_SHOWN), error });
    }
    if (result.outcome === 'stale') return backSignedOut(reply, context, sent.authorizationRequest);
    // The pre-login session goes on: a sign-in form in another tab stays good.
    setCookie(reply, context, 'session', result.sessionCookie);
    setCookie(reply, context, 'device', result.deviceCookie);
    if (result.seenCookie !== null) setCookie(reply, context, 'seen', result.seenCookie);
    forgetOutcome(reply, context);
    return backToRequest(reply, context, sent.authorizationRequest);
  });

  app.post('/sign-out', OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request, context);
    // Before the request is looked at: leaving must work also when that can't go on any more.
    const outcome =
      session && (await signOut(context, session, form.get('form_token'), callerOf(request))).outcome;
    if (outcome === 'signed_out') {
      clearCookie(reply, context, 'session');
      forgetOutcome(reply, context);
    }
    const authorizationRequest = await carriedRequest(context, form);
    // The account page says by itself who is signed in.
    if (outcome === 'stale' && authorizationRequest !== null) {
      rememberOutcome(reply, context, 'not_signed_out', authorizationRequest);
    }
    return backToRequest(reply, context, authorizationRequest);
  });
}

/** Shows the sign-in page afresh, with a word on why, or that cookies are off. */
function backSignedOut(
  reply: FastifyReply,
  context: Context,
  authorizationRequest: SentSignIn['authorizationRequest'],
): FastifyReply {
  const { request } = reply;
  rememberOutcome(reply, context, 'not_signed_in', authorizationRequest);
  const isLost = readCookies(request, context).preLogin === null && isFromOwnPage(request, context);
  return (isLost ? backWithCookieCheck : backToRequest)(reply, context, authorizationRequest);
}

async function receiveSignIn(request: FastifyRequest, context: Context): Promise<SentSignIn> {
  const form = bodyParameters(request);
  return {
    authorizationRequest: await carriedRequest(context, form),
    login: form.get('login')?.trim() ?? '', // phones add a space after a completed word
    password: form.get('password') ?? '',
    formToken: isFromOwnPage(request, context) ? form.get('form_token') : undefined,
  };
}
