import type { FastifyInstance, FastifyReply } from 'fastify';
import { formTokenFits } from '../flows/formToken.ts';
import { signIn, signOut } from '../flows/signIn.ts';
import type { AuthorizationRequest } from '../oauth/authorizationRequest.ts';
import { clearSessionCookie, type Site, sessionCookie, setSessionCookie } from './browserSession.ts';
import { carriedRequest, isFromOwnPage, OWN_FORM, senderOf } from './ownForms.ts';
import { bodyParameters } from './requestParameters.ts';
import { backToRequest, signInPage } from './steps.ts';
import { showPage } from './views.ts';

const WRONG = 'The login or the password is wrong.';

/** Signing in and out, on the way to a request or to the account page (contract 5.1). */
export async function signInRoutes(app: FastifyInstance, site: Site): Promise<void> {
  const { context } = site;

  app.post('/sign-in', OWN_FORM, async (request, reply) => {
    const form = bodyParameters(request);
    const goingTo = await carriedRequest(site, form);
    if (!isFromOwnPage(request, site)) return goOn(reply, site, goingTo);
    const login = form.get('login')?.trim() ?? ''; // phones add a space behind a completed word
    const cookie = await signIn(context, login, form.get('password') ?? '', sessionCookie(request, site));
    if (cookie === undefined) return showPage(reply, signInPage(goingTo, { login, error: WRONG }), 422);
    setSessionCookie(reply, site, cookie);
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

function goOn(reply: FastifyReply, site: Site, request: AuthorizationRequest | null): FastifyReply {
  if (request !== null) return backToRequest(reply, site, request);
  return reply.header('cache-control', 'no-store').redirect(`${site.baseUrl}/account`, 303);
}
