import type { FastifyReply } from 'fastify';
import type { RequestedAccess, Step } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import type { SignInStep } from '../../flows/signIn.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { setCookie } from './cookies.ts';
import { describeDay, describeRights } from './describe.ts';
import { showFull } from './notices.ts';
import type { Page, RequestedContent } from './pages.ts';
import { showPage } from './views.ts';

/** The path of a request's page. */
export function requestPath({ canonicalQuery }: AuthorizationRequest): string {
  return `/oauth/authorize?${canonicalQuery}`;
}

/** Sends the browser to a path of ours. 303: the post is over, and reload and Back work. */
export function seeOther(reply: FastifyReply, { baseUrl }: Context, path: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(baseUrl + path, 303);
}

/** Sends the browser back to the request, where the next step is decided afresh. */
export function backToRequest(
  reply: FastifyReply,
  context: Context,
  authorizationRequest: AuthorizationRequest,
): FastifyReply {
  return seeOther(reply, context, requestPath(authorizationRequest));
}

/** Why a form is shown again. */
export interface FailedAttempt {
  readonly status: number;
  readonly error: string;
  /** In seconds. */
  readonly retryAfter?: number;
}

/** Shows the page of a step. @param failed why its form is shown again */
export function showStep(
  reply: FastifyReply,
  context: Context,
  step: Step,
  failed: FailedAttempt | null = null,
): FastifyReply {
  if (step.step === 'sign-in') return showSignIn(reply, context, step);
  if (step.step === 'full') return showFull(reply, step.authorizationRequest);
  const common = {
    request: step.authorizationRequest.canonicalQuery,
    content: describeContent(context, step),
    signOutToken: step.signOutToken,
  };
  if (step.step === 'consent') {
    return showPage(reply, { name: 'consent', ...common, decisionToken: step.decisionToken });
  }
  const { formToken } = step;
  const error = failed?.error ?? null;
  return showAttempt(reply, { name: 'payment-password', ...common, formToken, error }, failed);
}

/** What a sign-in page says beside its form. */
interface SignInNote {
  /** What was typed before. */
  readonly login?: string;
  readonly failed?: FailedAttempt;
  /** What was not done for want of a session; null when nothing was asked. */
  readonly undone?: string | null;
}

/** Shows the sign-in page. */
export function showSignIn(
  reply: FastifyReply,
  context: Context,
  { authorizationRequest, formToken, newCookie }: SignInStep,
  { login = '', failed, undone = null }: SignInNote = {},
): FastifyReply {
  if (newCookie !== null) setCookie(reply, context, 'preLogin', newCookie);
  const page: Page = {
    name: 'sign-in',
    request: authorizationRequest?.canonicalQuery ?? null,
    formToken,
    clientName: authorizationRequest?.client.name ?? null,
    login,
    undone,
    error: failed?.error ?? null,
  };
  return showAttempt(reply, page, failed ?? null);
}

function showAttempt(reply: FastifyReply, page: Page, failed: FailedAttempt | null): FastifyReply {
  if (failed?.retryAfter !== undefined) reply.header('retry-after', failed.retryAfter);
  return showPage(reply, page, failed?.status);
}

/** What comes of a password that opens nothing. */
type Failure = { readonly outcome: 'wrong' } | { readonly outcome: 'wait'; readonly waitSeconds: number };

/** Says on the form, and in the log, that what was typed is wrong, or was wrong too often. */
export function failedAttempt(reply: FastifyReply, failure: Failure, wrong: string): FailedAttempt {
  if (failure.outcome === 'wrong') {
    reply.request.logFields = { error: 'wrong_password', rule: wrong };
    return { status: 422, error: wrong };
  }
  const { waitSeconds } = failure;
  reply.request.logFields = { error: 'too_many_tries', rule: `a wait of ${waitSeconds} s is not over` };
  const error = `Too many tries. Wait ${describeWait(waitSeconds)} and try again.`;
  return { status: 429, retryAfter: waitSeconds, error };
}

function describeWait(seconds: number): string {
  if (seconds > 90) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}

function describeContent(
  { catalogue, currency }: Context,
  { authorizationRequest, user, expiresAt, earlier }: RequestedAccess,
): RequestedContent {
  return {
    clientName: authorizationRequest.client.name,
    instanceName: authorizationRequest.instanceName,
    returnsTo: hostOrScheme(authorizationRequest.redirectUri),
    userName: user.name,
    userLogin: user.login,
    rights: describeRights(authorizationRequest.rights, catalogue, currency),
    validUntil: describeDay(expiresAt),
    earlier: earlier && {
      confirmedOn: describeDay(earlier.confirmedAt),
      rights: describeRights(earlier.rights, catalogue, currency),
    },
  };
}

/** The host that the browser goes to, or the scheme of an application on the device. */
function hostOrScheme(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === '' || !/^https?:$/.test(protocol) ? protocol.slice(0, -1) : host;
}
