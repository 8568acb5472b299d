import type { FastifyReply } from 'fastify';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { ACCOUNT_PATH } from './language.ts';

/** Redirects to one of our paths, usually the account page. 303 ends the post, so reload and Back work. */
export function seeOther(reply: FastifyReply, path = ACCOUNT_PATH): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(reply.server.context.baseUrl + path, 303);
}

/** To the request, whose next step is chosen again; without one to the account page. @param more a further parameter */
export function redirectToRequest(reply: FastifyReply, request: AuthorizationRequest | null, more = '') {
  const path = request === null ? ACCOUNT_PATH : '/oauth/authorize';
  return seeOther(reply, withQuery(path, request?.canonicalQuery, more));
}

/** @param queries of one address; empty ones are left out */
export function withQuery(path: string, ...queries: readonly (string | null | undefined)[]): string {
  const query = queries.filter(Boolean).join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** The query after signing out: the provider asks for a user anew. */
export const AGAIN = 'prompt=login';

export function decisionPath(path: string, { canonicalQuery }: AuthorizationRequest, decision: string) {
  return withQuery(path, canonicalQuery, decisionQuery(decision));
}

export const decisionQuery = (decision: string): string => `decision=${decision}`;
