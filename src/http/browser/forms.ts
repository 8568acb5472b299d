import type { FastifyRequest } from 'fastify';
import type { Session } from '../../flows/context.ts';
import { loadAuthorizationRequest } from '../../flows/loadRequest.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { Parameters } from '../../rules/parameters.ts';
import { type Site, sessionOf } from './cookies.ts';

/** Route options of our forms: they carry a canonical query, which a browser may encode to three times its length. */
export const OWN_FORM = { bodyLimit: 32 * 1024 };

/**
 * Whether a post of one of our forms comes from one of our pages, as far as the browser says. Not asked on
 * `POST /oauth/authorize`, which comes from the application's site by design.
 */
export function isFromOwnPage(request: FastifyRequest, { baseUrl }: Site): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return request.headers.origin === undefined || request.headers.origin === baseUrl;
}

/** Who sent a form of ours; undefined when nobody is signed in or it comes from elsewhere. */
export async function senderOf(request: FastifyRequest, site: Site): Promise<Session | undefined> {
  return isFromOwnPage(request, site) ? sessionOf(request, site) : undefined;
}

/**
 * The authorization request that a form of ours carries, checked again; null when it carries none.
 *
 * @throws {OAuthError} when it is not valid, or not any more
 */
export async function carriedRequest(
  { context }: Site,
  form: Parameters,
): Promise<AuthorizationRequest | null> {
  const carried = form.get('request');
  return carried === undefined ? null : loadAuthorizationRequest(context, new Parameters(carried));
}

/** Like {@link carriedRequest}, for a form that means nothing without. @throws {OAuthError} */
export async function requiredRequest({ context }: Site, form: Parameters): Promise<AuthorizationRequest> {
  return loadAuthorizationRequest(context, new Parameters(form.require('request')));
}
