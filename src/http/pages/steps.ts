import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Step } from '../../flows/authorize/authorize.ts';
import { type ConfirmStep, takesPassword } from '../../flows/authorize/confirmPayment.ts';
import type { Receipt } from '../../flows/authorize/decide.ts';
import type { Provider } from '../../flows/common/provider.ts';
import { type Session, signOutToken } from '../../flows/signIn/session.ts';
import type { SignInStep } from '../../flows/signIn/signIn.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import type { Parameters } from '../../rules/request/parameters.ts';
import { setCookie } from '../browser/cookies.ts';
import { OWN_FORM, receiveForm } from '../browser/forms.ts';
import { ACCOUNT, requestPath, textsOf } from '../browser/language.ts';
import { noteOn, rememberOutcome, signInNote } from '../browser/outcomes.ts';
import { pageLanguageOf } from '../describe/describe.ts';
import {
  describeClient,
  describeGranted,
  describeRequest,
  typedLimits,
} from '../describe/describeRequest.ts';
import { queryParameters } from '../request/parameters.ts';
import { errorAt, showFull } from './notices.ts';
import { showPage } from './views.ts';

/** Redirects to one of our paths, usually the account page. 303 ends the post, so reload and Back work. */
export function seeOther(reply: FastifyReply, path = ACCOUNT): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(reply.server.context.baseUrl + path, 303);
}

/** To the request, whose next step is chosen again; without one to the account page. @param more a further parameter */
export function backToRequest(reply: FastifyReply, request: AuthorizationRequest | null, more = '') {
  const path = request === null ? ACCOUNT : '/oauth/authorize';
  return seeOther(reply, withQuery(path, request?.canonicalQuery, more));
}

/** To the sign-in page, which says that a form of the user's own pages has changed nothing. */
export function toSignIn(reply: FastifyReply): FastifyReply {
  rememberOutcome(reply, 'stale', null);
  return seeOther(reply);
}

/** Adds a form of the user's own pages. @param receive returns the path of the next page */
export function addOwnForm(
  app: FastifyInstance,
  path: string,
  receive: (form: Parameters, session: Session, reply: FastifyReply) => Promise<string>,
): void {
  app.post(path, OWN_FORM, async (request, reply) => {
    const { form, session } = await receiveForm(request);
    return session === null ? toSignIn(reply) : seeOther(reply, await receive(form, session, reply));
  });
}

/** @param queries of one address; empty ones are left out */
export function withQuery(path: string, ...queries: readonly (string | null | undefined)[]): string {
  const query = queries.filter(Boolean).join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** The query after signing out: the provider asks for a user anew. */
export const AGAIN = 'prompt=login';

export function decisionPath(path: string, { canonicalQuery }: AuthorizationRequest, decision: string) {
  return withQuery(path, canonicalQuery, withDecision(decision));
}

export const withDecision = (decision: string): string => `decision=${decision}`;

/** Leads to the provider by a page: a redirect would be part of an application's form, whose `form-action` may forbid it. */
function showLeaving(reply: FastifyReply, { issuer }: Provider, query: string | null): FastifyReply {
  const { button: title, elsewhere } = textsOf(reply.request).signIn;
  const again = queryParameters(reply.request).only(['prompt']) === AGAIN ? AGAIN : '';
  const href = withQuery('/oauth/sign-in', query, again);
  const links = [{ href, text: title }];
  const text = elsewhere({ host: new URL(issuer).host });
  reply.header('refresh', `0; url=${href}`);
  return showPage(reply, { name: 'notice', title, text, links, refusal: null });
}

export function showStep(reply: FastifyReply, step: Step): FastifyReply {
  if (step.step === 'sign-in') return showSignIn(reply, step);
  if (step.step === 'full') return showFull(reply, step.authorizationRequest);
  const { authorizationRequest } = step;
  const failed = errorAt(reply, '/oauth/consent', authorizationRequest);
  const typed = failed?.typed.length ? typedLimits(authorizationRequest, failed.typed) : null;
  return showPage(reply, {
    name: 'consent',
    undone: failed === null ? noteOn(reply, authorizationRequest, step.user) : null,
    decisionToken: step.decisionToken,
    error: failed?.error ?? null,
    ...describeRequest(step, typed, pageLanguageOf(reply.request)),
  });
}

/** Asks for the payment password, or leads to the provider, for exactly what was decided. */
export function showConfirm(reply: FastifyReply, step: ConfirmStep): FastifyReply {
  const { authorizationRequest, decision, granted, signOutToken } = step;
  return showPage(reply, {
    name: 'confirm',
    error: errorAt(reply, '/oauth/confirm', authorizationRequest)?.error ?? null,
    request: authorizationRequest.canonicalQuery,
    decision,
    signOutToken,
    back: requestPath(authorizationRequest),
    keptAs: takesPassword(reply.server.context) ? keptAs(step.user) : null,
    ...describeGranted(granted, authorizationRequest, step, pageLanguageOf(reply.request)),
  });
}

/** Says what was decided, and leads on to the application. */
export function showReceipt(
  reply: FastifyReply,
  authorizationRequest: AuthorizationRequest,
  receipt: Receipt,
  decision: string,
): FastifyReply {
  const { choice, rights, location } = receipt;
  const onward = location && decisionPath('/oauth/return', authorizationRequest, decision);
  // At once: on Android an application opens only as the consequence of a press, for a few seconds.
  if (onward !== null) reply.header('refresh', `0; url=${onward}`);
  return showPage(reply, {
    name: 'receipt',
    choice,
    onward,
    ...describeGranted(rights, authorizationRequest, receipt, pageLanguageOf(reply.request)),
  });
}

/** The same in each language: browsers fill in by this exact name. */
export function keptAs({ login }: { readonly login: string }): string {
  return `${login} (payment)`;
}

export function showSignIn(reply: FastifyReply, step: SignInStep): FastifyReply {
  const { authorizationRequest, formToken, newCookie } = step;
  const { provider } = reply.server.context;
  const request = authorizationRequest?.canonicalQuery ?? null;
  if (provider !== null) return showLeaving(reply, provider, request);
  if (newCookie !== null) setCookie(reply, 'preLogin', newCookie);
  const client =
    authorizationRequest && describeClient(authorizationRequest.client, pageLanguageOf(reply.request));
  const { error = null, typed: [login = ''] = [] } =
    errorAt(reply, '/oauth/sign-in', authorizationRequest) ?? {};
  const note = error === null ? signInNote(reply, authorizationRequest) : null;
  return showPage(reply, { name: 'sign-in', request, formToken, client, login, error, undone: note });
}

export function ownPage(session: Session, { server }: FastifyReply) {
  const { name: userName, login: userLogin } = session.user;
  return { userName, userLogin, signOutToken: signOutToken(server.context, session) };
}
