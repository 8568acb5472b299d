import type { FastifyRequest } from 'fastify';
import { loadAuthorizationRequest } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { currentSession } from '../../flows/session.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { Parameters } from '../../rules/parameters.ts';
import { bodyParameters } from '../parameters.ts';
import { readCookies } from './cookies.ts';

/** Route options of our forms: they carry a canonical query, which a browser may encode to three times its length. */
export const OWN_FORM = { bodyLimit: 32 * 1024 };

/**
 * Whether a post of one of our forms comes from one of our pages, as far as the browser says (CSRF). Not asked on
 * `POST /oauth/authorize`, which comes from the application's site by design.
 */
export function isFromOwnPage(request: FastifyRequest, { baseUrl }: Context): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return request.headers.origin === undefined || request.headers.origin === baseUrl;
}

/** The field of the consent form with the sum that a user grants. @param index the place of the right in the scope */
export const limitField = (index: number): string => `limit_${index}`;

/** What stands in the fields of limits, by the places of their rights; an empty one counts, too. */
export function typedSums(form: Parameters, indexes: readonly number[]): ReadonlyMap<number, string> {
  const sent = indexes.filter((index) => form.hasAny([limitField(index)]));
  return new Map(sent.map((index) => [index, form.get(limitField(index)) ?? '']));
}

/** The session of this browser. Never asked on a cross-site post: a `Lax` cookie does not come with it. */
export function sessionOf(request: FastifyRequest, context: Context) {
  return currentSession(context, readCookies(request, context).session);
}

/** A posted form of ours, and its sender's session: null when nobody is signed in or the form comes from elsewhere. */
export async function receiveForm(request: FastifyRequest, context: Context) {
  const session = isFromOwnPage(request, context) ? await sessionOf(request, context) : null;
  return { form: bodyParameters(request), session };
}

/**
 * A posted form of ours about an authorization request, its sender's session as in {@link receiveForm}, and that request,
 * checked again.
 *
 * @throws {OAuthError} when it carries no request, or one that is not valid any more
 */
export async function receiveRequestForm(request: FastifyRequest, context: Context) {
  const carried = new Parameters(bodyParameters(request).require('request'));
  const [authorizationRequest, received] = await Promise.all([
    loadAuthorizationRequest(context, carried),
    receiveForm(request, context),
  ]);
  return { ...received, authorizationRequest };
}

/**
 * The authorization request that a form carries, checked again; null when it carries none.
 *
 * @throws {OAuthError} when it is not valid any more
 */
export async function carriedRequest(
  context: Context,
  form: Parameters,
): Promise<AuthorizationRequest | null> {
  const carried = form.get('request');
  return carried === undefined ? null : loadAuthorizationRequest(context, new Parameters(carried));
}
