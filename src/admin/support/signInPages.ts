import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bindForm, verifyForm } from '../../flows/common/signedForm.ts';
import { OperatorError } from '../../rules/common/error.ts';
import { isLoopback } from '../../rules/common/network.ts';
import { sha256 } from '../../secrets/digest.ts';
import type { AdminApi } from '../server.ts';
import { attempt, formOf } from './asking.ts';
import {
  beginProviderSignIn,
  finishProviderSignIn,
  OPERATOR_CALLBACK,
  type OperatorSignIn,
} from './providerSignIn.ts';
import {
  closeSession,
  findSignedIn,
  isExposed,
  isOwnForm,
  openOperatorSession,
  setSignInCookie,
  signInCookieOf,
} from './session.ts';
import type { loadViews, SupportContext } from './views.ts';

export const HOME = '/support';
const SIGN_IN = `${HOME}/sign-in`;

const ownPath = (back: string | null = '') => (/^\/support([/?][!-~]*)?$/.test(`${back}`) ? `${back}` : HOME);

/** @returns `admit`, a hook that lets only signed-in operators and their own forms to a page, and what adds the pages where they sign in */
export function signInPages(
  api: AdminApi,
  context: SupportContext,
  { show, textsOf }: Pick<ReturnType<typeof loadViews>, 'show' | 'textsOf'>,
) {
  const { operatorSignIn } = context;

  async function refuse(reply: FastifyReply, own: string) {
    const { status } = await attempt(api, reply, Promise.reject(new OperatorError('not_permitted', own)));
    return show(reply, status, 'error', { own });
  }

  /** A link from another site comes without the cookie, which is `SameSite=Strict`: a step on our own page brings it. */
  function askToSignIn(reply: FastifyReply, status = 200, problem: OperatorError | null = null) {
    const { headers, method, url } = reply.request;
    const isPage = method === 'GET' && problem === null;
    if (isPage && /-site$/.test(`${headers['sec-fetch-site']}`)) reply.header('refresh', `0; url=${url}`);
    const back = (isPage ? url : formOf(reply.request).get('back')) ?? '';
    const issuer = operatorSignIn?.provider.issuer;
    const host = issuer === undefined ? null : new URL(issuer).host;
    return show(reply, status, 'sign-in', { back, problem, host });
  }
  async function admit(request: FastifyRequest, reply: FastifyReply) {
    const isPost = request.method === 'POST';
    const { url = '' } = request.routeOptions;
    if (isPost && !isOwnForm(request)) return refuse(reply, textsOf(reply).elsewhere);
    if (url.startsWith(SIGN_IN)) return undefined;
    const session = await findSignedIn(api, operatorSignIn, request);
    if (session === null) return askToSignIn(reply);
    request.operator = session;
    const token = formOf(request).get('form_token') ?? '';
    const isOurs = !isPost || verifyForm(context, token, bindForm('support', session, url)) !== null;
    return isOurs ? undefined : refuse(reply, textsOf(reply).stale);
  }

  async function signIn(request: FastifyRequest, reply: FastifyReply) {
    if (isExposed(request)) return refuse(reply, textsOf(reply).exposed);
    const form = formOf(request);
    const token = form.get('token')?.trim() ?? '';
    const {
      answer: operator,
      status,
      problem,
    } = await attempt(api, reply, api.identify(token, request, reply));
    if (operator === null) return askToSignIn(reply, status, problem);
    const isPlain = request.headers.origin?.startsWith('http:') === true;
    await openOperatorSession(api.db, { tokenHash: sha256(token) }, operator.expiresAt, reply, isPlain);
    return reply.redirect(ownPath(form.get('back')), 303);
  }

  const signInAtProvider =
    (signIn: OperatorSignIn) =>
    async (request: FastifyRequest<{ Querystring: { back?: string } }>, reply: FastifyReply) => {
      const { hostname, host, query } = request;
      const origin = `${isLoopback(hostname) ? 'http' : 'https'}://${host}`;
      const { location, cookie } = await beginProviderSignIn(context, signIn, origin, ownPath(query.back));
      setSignInCookie(reply, cookie);
      return reply.redirect(location, 303);
    };
  const returnFromProvider =
    (signIn: OperatorSignIn) => async (request: FastifyRequest, reply: FastifyReply) => {
      const { url, hostname } = request;
      const finish = async () => {
        const answer = url.replace(/^[^?]*/, '');
        const { owner, back } = await finishProviderSignIn(context, signIn, answer, signInCookieOf(request));
        await api.requireOwnName(owner.operator);
        await openOperatorSession(api.db, owner, null, reply, isLoopback(hostname));
        return back;
      };
      const finished = api.limited(finish(), request, reply);
      const { answer: back, status, problem } = await attempt(api, reply, finished);
      return back === null ? askToSignIn(reply, status, problem) : reply.redirect(back, 303);
    };

  function addSignIn(pages: FastifyInstance): void {
    const config = { hasSession: true };
    pages.post(SIGN_IN, { config }, signIn);
    pages.post(`${HOME}/sign-out`, { config }, async (_request, reply) => {
      await closeSession(api.db, reply);
      return reply.redirect(HOME, 303);
    });
    if (operatorSignIn === null) return;
    pages.get(`${SIGN_IN}/provider`, { config }, signInAtProvider(operatorSignIn));
    pages.get(OPERATOR_CALLBACK, { config }, returnFromProvider(operatorSignIn));
  }

  return { admit, addSignIn };
}
