import type { FastifyInstance } from 'fastify';
import { loadAuthorizationRequest } from '../../../flows/authorize/authorize.ts';
import { beginSignIn, begunIn, CALLBACK, finishSignIn } from '../../../flows/authorize/providerSignIn.ts';
import type { Context } from '../../../flows/common/context.ts';
import { Parameters } from '../../../rules/request/parameters.ts';
import { readCookies, setSignInCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { languageOf } from '../../browser/language.ts';
import { showNotSignedIn } from '../../pages/notices.ts';
import { AGAIN, backToRequest, signInPath } from '../../pages/steps.ts';
import { callerOf } from '../../request/caller.ts';
import { queryParameters } from '../../request/parameters.ts';
import { keepSignedIn } from './signIn.ts';

/** Sign-in at the operator's OpenID provider, before a request or the account page, or to confirm a payment. */
export function providerRoutes(app: FastifyInstance, context: Context): void {
  const { provider } = context;
  if (provider === null) return;

  app.get('/sign-in', async (request, reply) => {
    const query = queryParameters(request);
    const [authorizationRequest, session] = await Promise.all([requestIn(query), sessionOf(request)]);
    const again = query.only(['prompt']) === AGAIN;
    const beginning = { authorizationRequest, session, again, language: languageOf(request) };
    const begun = await beginSignIn(context, provider, beginning);
    if (begun === null) return backToRequest(reply, authorizationRequest);
    setSignInCookie(reply, begun.cookie);
    return reply.header('cache-control', 'no-store').redirect(begun.location, 303);
  });

  app.get(CALLBACK, async (request, reply) => {
    const cookies = readCookies(request);
    setSignInCookie(reply, ''); // used up by its first answer
    request.wayBack = signInPath(null);
    const begun = begunIn(context, cookies.signIn);
    request.wayBack = signInPath(begun.query);
    // But not by the answer to another tab, or a stray link.
    if (queryParameters(request).find('state') !== begun.state) setSignInCookie(reply, cookies.signIn ?? '');
    const authorizationRequest = await requestIn(new Parameters(begun.query ?? ''));
    const url = new URL(context.baseUrl + CALLBACK);
    url.search = request.raw.url?.replace(/^[^?]*/, '') ?? '';
    const answer = { begun, authorizationRequest, url };
    const result = await finishSignIn(context, provider, answer, cookies, callerOf(request));
    if (result.outcome === 'rejected')
      return showNotSignedIn(reply, request.wayBack, begun.sessionHash ? authorizationRequest : null);
    if (result.opened !== null) keepSignedIn(reply, result.opened);
    return backToRequest(reply, authorizationRequest);
  });

  async function requestIn(query: Parameters) {
    return query.hasAny(['client_id']) ? loadAuthorizationRequest(context, query) : null;
  }
}
