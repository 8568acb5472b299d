import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Grant, Session } from '../../flows/context.ts';
import { printDecision } from '../../flows/decision.ts';
import { printFormToken } from '../../flows/formToken.ts';
import { rightsOf } from '../../flows/grantRights.ts';
import type { Step } from '../../flows/nextStep.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { tokenExpiresAt } from '../../rules/lifetimes.ts';
import { ensureVisit, type Site } from './cookies.ts';
import { describeDay, describeRights } from './describe.ts';
import type { NoticePage, Page, RequestedContent, SignInPage } from './pages.ts';
import { showPage } from './views.ts';

/** What comes of a password that does not open anything. */
type Failure = { readonly outcome: 'wrong' } | { readonly outcome: 'wait'; readonly waitSeconds: number };

/** A form that is shown again: what was wrong with it. */
export interface Attempt {
  readonly status: number;
  readonly error: string;
  /** In seconds. */
  readonly retryAfter?: number;
}

/** A step that only a signed-in user meets. */
export type SignedInStep = Exclude<Step, { step: 'sign-in' }>;
/** A step that asks the user something about the request. */
type AskingStep = Exclude<SignedInStep, { step: 'full' }>;

/** The path of a request's page. */
export function requestPath({ canonicalQuery }: AuthorizationRequest): string {
  return `/oauth/authorize?${canonicalQuery}`;
}

/** The address of a request: opened again, in any browser, it goes on from where its user stands. */
function requestUrl({ baseUrl }: Site, request: AuthorizationRequest): string {
  return baseUrl + requestPath(request);
}

/** Sends the browser back to the request, where {@link Step} decides afresh. 303: the post is over. */
export function backToRequest(reply: FastifyReply, site: Site, request: AuthorizationRequest): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(requestUrl(site, request), 303);
}

/** Shows the page of a step. */
export function showStep(
  reply: FastifyReply,
  site: Site,
  request: AuthorizationRequest,
  step: SignedInStep,
  attempt?: Attempt,
): FastifyReply {
  if (step.step === 'full') return showFull(reply, request);
  return showAttempt(reply, pageOfStep(site, request, step, attempt?.error ?? null), attempt);
}

function showAttempt(reply: FastifyReply, page: Page, attempt: Attempt | undefined): FastifyReply {
  if (attempt?.retryAfter !== undefined) reply.header('retry-after', attempt.retryAfter);
  return showPage(reply, page, attempt?.status);
}

function pageOfStep(site: Site, request: AuthorizationRequest, step: AskingStep, error: string | null): Page {
  const { session } = step;
  const common = {
    request: request.canonicalQuery,
    content: describeContent(site, request, session, step.earlier),
    signOutToken: printFormToken(site.context, 'sign-out', session),
  };
  if (step.step === 'payment-password') {
    const formToken = printFormToken(site.context, 'payment-password', session, request.canonicalQuery);
    return { name: 'payment-password', ...common, formToken, error };
  }
  return {
    name: 'consent',
    ...common,
    decisionToken: printDecision(site.context, session, request, step.revision),
  };
}

/** Says that one connection has to go before there can be another one. */
export function showFull(reply: FastifyReply, { client }: AuthorizationRequest): FastifyReply {
  reply.request.logFields = {
    error: 'too_many_instances',
    rule: 'as many live authorizations of this user and application as MAX_INSTANCES allows',
  };
  const title = 'Too many connections of one application';
  const text = `${client.name} has as many connections to your account as one application may have. Disconnect one that you no longer need. Then go back to the application and start again.`;
  const link = { href: '/account', text: 'See your connected applications' };
  return showPage(reply, { name: 'notice', title, text, link }, 409);
}

/** In seconds; then there is room for a few more. */
const A_MINUTE = 60;

/** Says that nothing was decided, because the user has decided very much just now. */
export function showTooMany(reply: FastifyReply, link: NoticePage['link']): FastifyReply {
  reply.request.logFields = {
    error: 'too_many_decisions',
    rule: 'more decisions of one user than anybody reads in that time',
  };
  reply.header('retry-after', A_MINUTE);
  return showPage(reply, { name: 'notice', ...TOO_MANY, link }, 429);
}

const TOO_MANY = {
  title: 'Wait a minute',
  text: 'You have decided very much in a short time, so this was not done: nothing was allowed, rejected or disconnected. Wait a minute and try again.',
};

/** Shows the sign-in page on the way to `goingTo`, or to the account page when that is null. */
export function showSignIn(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  goingTo: AuthorizationRequest | null,
  attempt?: Attempt & { readonly login: string },
  undone: string | null = null,
): FastifyReply {
  const visit = ensureVisit(request, reply, site);
  const page: SignInPage = {
    name: 'sign-in',
    request: goingTo?.canonicalQuery ?? null,
    formToken: printFormToken(site.context, 'sign-in', visit, goingTo?.canonicalQuery),
    clientName: goingTo?.client.name ?? null,
    login: attempt?.login ?? '',
    undone,
    error: attempt?.error ?? null,
  };
  return showAttempt(reply, page, attempt);
}

/** Says on the form, and in the log, that what was typed is wrong, or that it was wrong too often. */
export function failed(request: FastifyRequest, result: Failure, wrong: string): Attempt {
  if (result.outcome === 'wrong') {
    request.logFields = { error: 'wrong_password', rule: wrong };
    return { status: 422, error: wrong };
  }
  const { waitSeconds } = result;
  request.logFields = { error: 'too_many_tries', rule: `a wait of ${waitSeconds} s is not over` };
  const error = `Too many tries. Wait ${describeWait(waitSeconds)} and try again.`;
  return { status: 429, retryAfter: waitSeconds, error };
}

function describeWait(seconds: number): string {
  if (seconds > 90) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? 'a second' : `${seconds} seconds`;
}

function describeContent(
  { context: { catalogue, currency } }: Site,
  request: AuthorizationRequest,
  session: Session,
  earlier: Grant | undefined,
): RequestedContent {
  return {
    clientName: request.client.name,
    instanceName: request.instanceName,
    returnsTo: whereTo(request.redirectUri),
    userName: session.user.name,
    userLogin: session.user.login,
    rights: describeRights(request.rights, catalogue, currency),
    validUntil: describeDay(tokenExpiresAt(session.now)),
    earlier: earlier
      ? {
          confirmedOn: describeDay(earlier.confirmedAt),
          rights: describeRights(rightsOf(earlier), catalogue, currency),
        }
      : null,
  };
}

/** The host that the browser goes to, or the scheme of an application on the device. */
function whereTo(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === '' || !/^https?:$/.test(protocol) ? protocol.slice(0, -1) : host;
}
