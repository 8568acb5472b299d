import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify';
import { loadAuthorizationRequest } from '../../../flows/authorize/authorize.ts';
import { beginSignIn, CALLBACK, finishSignIn } from '../../../flows/authorize/providerSignIn.ts';
import type { Context } from '../../../flows/common/context.ts';
import { ProviderAwayError } from '../../../flows/common/provider.ts';
import { ExchangeLimiter } from '../../../flows/signIn/provider/exchangeLimiter.ts';
import {
  cookieOf,
  nameOf,
  type ProviderSignIn,
  readProviderSignIn,
  toUsedSignIn,
} from '../../../flows/signIn/provider/signInCookie.ts';
import { callerOf } from '../../../listener/caller.ts';
import type { AuthorizationRequest } from '../../../rules/request/authorizationRequest.ts';
import { Parameters } from '../../../rules/request/parameters.ts';
import { readCookies, readProviderSignInCookie, setProviderSignInCookie } from '../../browser/cookies.ts';
import { sessionOf } from '../../browser/forms.ts';
import { encodeReturnPath, languageOf, parseReturnPath } from '../../browser/language.ts';
import { AGAIN, decisionQuery, redirectToRequest, seeOther, withQuery } from '../../browser/redirects.ts';
import { showNotSignedIn } from '../../pages/noticePage.ts';
import { queryParameters } from '../../request/parameters.ts';
import { answerDecision } from './decision.ts';
import { keepSignedIn } from './signIn.ts';

/** Without HEAD: looking at a link begins no sign-in, and uses none up. */
const BY_GET = { exposeHeadRoute: false };

const BEGIN = '/oauth/sign-in';
/** Of earlier builds: the code of a sign-in that they began is bound to this address (RFC 6749 section 4.1.3). */
const CALLBACK_BEFORE = '/sign-in/callback';

const beginningOf = ({ query, page, decision }: ProviderSignIn) =>
  withQuery(BEGIN, query, page && `back=${encodeReturnPath(page)}`, decision && decisionQuery(decision));

/** To the request, or to the page of the account from which the user went to sign in. */
const goOn = (reply: FastifyReply, request: AuthorizationRequest | null, page: string | undefined) =>
  request === null ? seeOther(reply, page) : redirectToRequest(reply, request);

/** Sign-in at the operator's OpenID provider, before a request or the account page, or to confirm a payment. */
export function providerSignInRoutes(app: FastifyInstance, context: Context): void {
  const { provider } = context;
  if (provider === null) return;
  const limiter = new ExchangeLimiter();
  const requestIn = async (query: Parameters) =>
    query.hasAny(['client_id']) ? loadAuthorizationRequest(context, query) : null;

  app.get(BEGIN, BY_GET, async (request, reply) => {
    const query = queryParameters(request);
    const [authorizationRequest, session] = await Promise.all([requestIn(query), sessionOf(request)]);
    const again = query.only(['prompt']) === AGAIN;
    const decision = query.find('decision');
    const page = parseReturnPath(query);
    const asked = { authorizationRequest, page, session, again, decision, language: languageOf(request).tag };
    const left = await beginSignIn(context, provider, asked);
    if (left === null) return goOn(reply, authorizationRequest, page);
    setProviderSignInCookie(reply, ...left.cookie);
    return reply.header('cache-control', 'no-store').redirect(left.location, 303);
  });

  const receiveCallback: RouteHandlerMethod = async (request, reply) => {
    request.wayBack = BEGIN;
    const cookies = readCookies(request);
    const state = queryParameters(request).find('state') ?? '';
    const signIn = readProviderSignIn(context, state, readProviderSignInCookie(request, nameOf(state)));
    request.wayBack = beginningOf(signIn);
    const url = new URL(context.baseUrl + request.routeOptions.url);
    url.search = request.raw.url?.replace(/^[^?]*/, '') ?? '';
    // An error uses nothing up: the user may go Back there, and sign in.
    if (!url.searchParams.get('error'))
      setProviderSignInCookie(reply, ...cookieOf(context, toUsedSignIn(signIn)));
    const authorizationRequest = await requestIn(new Parameters(signIn.query ?? ''));
    const answer = { signIn, authorizationRequest, url };
    const finished = finishSignIn(context, provider, limiter, answer, cookies, callerOf(request));
    const result = await finished.catch((error: unknown) => {
      // Its code may still be good, and a reload asks again.
      if (error instanceof ProviderAwayError) setProviderSignInCookie(reply, ...cookieOf(context, signIn));
      throw error;
    });
    const confirmed = signIn.decision ? authorizationRequest : null;
    if (result.outcome === 'left') return showNotSignedIn(reply, request.wayBack, confirmed);
    if (result.outcome === 'signed_in' && result.opened !== null) keepSignedIn(reply, result.opened);
    if (result.outcome !== 'decided') return goOn(reply, authorizationRequest, signIn.page);
    return answerDecision(reply, result.request, result.decided);
  };
  for (const path of [CALLBACK, CALLBACK_BEFORE]) app.get(path, BY_GET, receiveCallback);
}
