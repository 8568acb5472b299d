import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formTokenFits } from '../../flows/formToken.ts';
import { signIn, signOut } from '../../flows/signIn.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import type { Parameters } from '../../rules/parameters.ts';
import {
  clearSessionCookie,
  deviceCookie,
  type Site,
  sessionCookie,
  setDeviceCookie,
  setSessionCookie,
  visitOf,
} from '../browser/cookies.ts';
import { carriedRequest, isFromOwnPage, OWN_FORM, senderOf } from '../browser/forms.ts';
import { backToRequest, failed, showSignIn } from '../browser/steps.ts';
import { callerOf } from '../server/caller.ts';
import { bodyParameters } from '../server/parameters.ts';

/** What is shown again of a login: none is longer. */
const MAX_SHOWN = 512;
const WRONG = 'The login or the password is wrong.';

/** Signing in and out, on the way to a request or to the account page (contract 5.1). */
export async function signInRoutes(app: FastifyInstance, site: Site): Promise<void> {
  const { context } = site;

  app.post('/sign-in', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const goingTo = await carriedRequest(site, form);
    if (!isFromSignInPage(request, site, form, goingTo)) return goOn(reply, site, goingTo);
    const login = form.get('login')?.trim() ?? ''; // phones add a space behind a completed word
    const password = form.get('password') ?? '';
    const sent = { session: sessionCookie(request, site), device: deviceCookie(request, site, 'password') };
    const result = await signIn(context, { login, password }, sent, callerOf(request));
    if (result.outcome !== 'signed-in') {
      const shown = login.slice(0, MAX_SHOWN);
      return showSignIn(request, reply, site, goingTo, { login: shown, ...failed(request, result, WRONG) });
    }
    setSessionCookie(reply, site, result.cookie);
    setDeviceCookie(reply, site, 'password', result.deviceCookie);
    return goOn(reply, site, goingTo);
  });

  // Where the address bar leads after a wrong password.
  for (const path of ['/sign-in', '/payment-password']) {
    app.get(path, async (_request, reply) => reply.redirect(`${site.baseUrl}/account`, 303));
  }

  app.post('/sign-out', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const session = await senderOf(request, site);
    // First of all: leaving must work also when the request can't go on any more.
    if (session && formTokenFits(context, form.get('form_token'), 'sign-out', session)) {
      await signOut(context, session);
      clearSessionCookie(reply, site);
    }
    return goOn(reply, site, await carriedRequest(site, form));
  });
}

/** Whether it is our form, shown in this browser on the way to this very request. */
function isFromSignInPage(
  request: FastifyRequest,
  site: Site,
  form: Parameters,
  goingTo: AuthorizationRequest | null,
): boolean {
  const visit = isFromOwnPage(request, site) ? visitOf(request, site) : undefined;
  const token = form.get('form_token');
  return visit !== undefined && formTokenFits(site.context, token, 'sign-in', visit, goingTo?.canonicalQuery);
}

function goOn(reply: FastifyReply, site: Site, request: AuthorizationRequest | null): FastifyReply {
  if (request !== null) return backToRequest(reply, site, request);
  return reply.header('cache-control', 'no-store').redirect(`${site.baseUrl}/account`, 303);
}
