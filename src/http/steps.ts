import type { FastifyReply } from 'fastify';
import type { Grant, Session } from '../flows/context.ts';
import { printDecision } from '../flows/decision.ts';
import { printFormToken } from '../flows/formToken.ts';
import { rightsOf } from '../flows/grantRights.ts';
import type { Step } from '../flows/nextStep.ts';
import type { AuthorizationRequest } from '../oauth/authorizationRequest.ts';
import { describeDay, describeRights } from '../oauth/describe.ts';
import { tokenExpiresAt } from '../oauth/lifetime.ts';
import type { Site } from './browserSession.ts';
import type { Page, RequestedContent, SignInPage } from './pages.ts';

/** What the form on a page has to say about an attempt that failed. */
export interface Attempt {
  readonly login?: string;
  readonly error?: string;
}

/** The address of a request: opened again, in any browser, it goes on from where its user stands. */
export function requestUrl({ baseUrl }: Site, { canonicalQuery }: AuthorizationRequest): string {
  return `${baseUrl}/oauth/authorize?${canonicalQuery}`;
}

/** Sends the browser back to the request, where {@link Step} decides afresh. 303: the post is over. */
export function backToRequest(reply: FastifyReply, site: Site, request: AuthorizationRequest): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(requestUrl(site, request), 303);
}

/** The page of a step. */
export function pageOfStep(
  site: Site,
  request: AuthorizationRequest,
  step: Step,
  attempt: Attempt = {},
): Page {
  if (step.step === 'sign-in') return signInPage(request, attempt);
  const { session } = step;
  const common = {
    request: request.canonicalQuery,
    content: describeContent(site, request, session, step.earlier),
    signOutToken: printFormToken(site.context, 'sign-out', session),
  };
  if (step.step === 'payment-password') {
    const formToken = printFormToken(site.context, 'payment-password', session, request.canonicalQuery);
    return { name: 'payment-password', ...common, formToken, error: attempt.error ?? null };
  }
  return {
    name: 'consent',
    ...common,
    decisionToken: printDecision(site.context, session, request, step.revision),
  };
}

/** The sign-in page on the way to `request`, or to the account page when there is none. */
export function signInPage(
  request: AuthorizationRequest | null,
  { login = '', error }: Attempt = {},
): SignInPage {
  return {
    name: 'sign-in',
    request: request?.canonicalQuery ?? null,
    clientName: request?.client.name ?? null,
    login,
    error: error ?? null,
  };
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
