import type { FastifyInstance } from 'fastify';
import { loadAuthorizationRequest } from '../../../flows/authorize/authorize.ts';
import {
  beginSignIn,
  begunIn,
  CALLBACK,
  cookieOf,
  finishSignIn,
  nameOf,
} from '../../../flows/authorize/providerSignIn.ts';
import { ProviderTurns } from '../../../flows/authorize/providerTurns.ts';
import type { Context } from '../../../flows/common/context.ts';
import { ProviderAwayError } from '../../../flows/common/provider.ts';
import { Parameters } from '../../../rules/request/parameters.ts';
import { readCookies, readSignIn, setSignIn } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { languageOf } from '../../browser/language.ts';
import { showNotSignedIn } from '../../pages/notices.ts';
import { AGAIN, backToRequest, signInPath } from '../../pages/steps.ts';
import { callerOf } from '../../request/caller.ts';
import { queryParameters } from '../../request/parameters.ts';
import { keepSignedIn } from './signIn.ts';

/** Without HEAD: looking at a link begins no sign-in, and uses none up. */
const BY_GET = { exposeHeadRoute: false };

/** Sign-in at the operator's OpenID provider, before a request or the account page, or to confirm a payment. */
export function providerRoutes(app: FastifyInstance, context: Context): void {
  const { provider } = context;
  if (provider === null) return;
  const turns = new ProviderTurns();

  app.get('/sign-in', BY_GET, async (request, reply) => {
    const query = queryParameters(request);
    const [authorizationRequest, session] = await Promise.all([requestIn(query), sessionOf(request)]);
    const again = query.only(['prompt']) === AGAIN;
    const beginning = { authorizationRequest, session, again, language: languageOf(request) };
    const left = await beginSignIn(context, provider, beginning);
    if (left === null) return backToRequest(reply, authorizationRequest);
    setSignIn(reply, ...left.cookie);
    return reply.header('cache-control', 'no-store').redirect(left.location, 303);
  });

  app.get(CALLBACK, BY_GET, async (request, reply) => {
    request.wayBack = signInPath(null);
    const cookies = readCookies(request);
    const state = queryParameters(request).find('state') ?? '';
    const begun = begunIn(context, state, readSignIn(request, nameOf(state)));
    request.wayBack = signInPath(begun.query);
    const url = new URL(context.baseUrl + CALLBACK);
    url.search = request.raw.url?.replace(/^[^?]*/, '') ?? '';
    const used = { ...begun, nonce: '', verifier: '', sessionHash: null };
    // An error uses nothing up: the user may go Back there, and sign in.
    if (!url.searchParams.get('error')) setSignIn(reply, ...cookieOf(context, used));
    const authorizationRequest = await requestIn(new Parameters(begun.query ?? ''));
    const answer = { begun, authorizationRequest, url };
    const finished = finishSignIn(context, provider, turns, answer, cookies, callerOf(request));
    const result = await finished.catch((error: unknown) => {
      // Its code may still be good, and a reload asks again.
      if (error instanceof ProviderAwayError) setSignIn(reply, ...cookieOf(context, begun));
      throw error;
    });
    if (result.outcome === 'rejected')
      return showNotSignedIn(reply, request.wayBack, begun.sessionHash ? authorizationRequest : null);
    if (result.opened !== null) keepSignedIn(reply, result.opened);
    return backToRequest(reply, authorizationRequest);
  });

  async function requestIn(query: Parameters) {
    return query.hasAny(['client_id']) ? loadAuthorizationRequest(context, query) : null;
  }
}
