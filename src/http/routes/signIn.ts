import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { signOut } from '../../flows/session.ts';
import { isSignInForm, signIn, signInStep } from '../../flows/signIn.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import type { Parameters } from '../../rules/parameters.ts';
import { clearCookie, readCookie, setCookie } from '../browser/cookies.ts';
import { carriedRequest, isFromOwnPage, OWN_FORM, senderOf } from '../browser/forms.ts';
import { failedAttempt, requestPath, seeOther, showSignIn } from '../browser/steps.ts';
import { callerOf } from '../server/caller.ts';
import { bodyParameters } from '../server/parameters.ts';

/** A login is shown again up to this length: none is longer. */
const MAX_SHOWN = 512;
const WRONG = 'The login or the password is wrong.';

/** Signing in and out, on the way to a request or to the account page (contract 5.1). */
export async function signInRoutes(app: FastifyInstance, context: Context): Promise<void> {
  app.post('/sign-in', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const goingTo = await carriedRequest(context, form);
    if (!isOwnSignInForm(request, context, form, goingTo)) return goOn(reply, context, goingTo);
    const login = form.get('login')?.trim() ?? ''; // phones add a space after a completed word
    const password = form.get('password') ?? '';
    const sent = {
      session: readCookie(request, context, 'session'),
      device: readCookie(request, context, 'device'),
    };
    const result = await signIn(context, { login, password }, sent, callerOf(request));
    if (result.outcome !== 'signed-in') {
      const step = signInStep(context, goingTo, readCookie(request, context, 'preLogin'));
      const failed = failedAttempt(reply, result, WRONG);
      return showSignIn(reply, context, step, { login: login.slice(0, MAX_SHOWN), failed });
    }
    // The pre-login session goes on: a sign-in form in another tab stays good.
    setCookie(reply, context, 'session', result.cookie);
    setCookie(reply, context, 'device', result.deviceCookie);
    return goOn(reply, context, goingTo);
  });

  // Where the address bar leads after a wrong password.
  for (const path of ['/sign-in', '/payment-password']) {
    app.get(path, async (_request, reply) => reply.redirect(`${context.baseUrl}/account`, 303));
  }

  app.post('/sign-out', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const session = await senderOf(request, context);
    // Before the request is looked at: leaving must work also when that can't go on any more.
    if (session !== null) {
      const { outcome } = await signOut(context, session, form.get('form_token'));
      if (outcome === 'signed-out') clearCookie(reply, context, 'session');
    }
    return goOn(reply, context, await carriedRequest(context, form));
  });
}

/** Whether it is our form, shown in this browser on the way to this very request. */
function isOwnSignInForm(
  request: FastifyRequest,
  context: Context,
  form: Parameters,
  goingTo: AuthorizationRequest | null,
): boolean {
  if (!isFromOwnPage(request, context)) return false;
  const preLoginCookie = readCookie(request, context, 'preLogin');
  return isSignInForm(context, goingTo, preLoginCookie, form.get('form_token'));
}

function goOn(reply: FastifyReply, context: Context, goingTo: AuthorizationRequest | null): FastifyReply {
  return seeOther(reply, context, goingTo === null ? '/account' : requestPath(goingTo));
}
