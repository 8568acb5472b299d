import type { FastifyRequest } from 'fastify';
import { loadAuthorizationRequest, loadPending } from '../../flows/authorize/authorize.ts';
import { currentSession } from '../../flows/signIn/session.ts';
import { Parameters } from '../../rules/request/parameters.ts';
import type { LimitPart } from '../../rules/spending/lowering.ts';
import { bodyParameters } from '../request/parameters.ts';
import { readCookie } from './cookies.ts';

/** Route options of our forms: their canonical query may triple in a browser's encoding. */
export const FORM_OPTIONS = { bodyLimit: 32 * 1024 };

/** CSRF: `Sec-Fetch-Site`, else `Origin`, must be our own. Not for `POST /oauth/authorize`, which applications' sites send. */
export function isFromOwnPage({ headers, server }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin === undefined || headers.origin === server.context.baseUrl;
}

/** The consent form's field for a part of the limit that a user grants. @param index of the right in the scope */
export const limitField = (index: number, part: LimitPart = 'sum'): string =>
  `${part === 'sum' ? 'limit' : part}_${index}`;

/** The cookie's session; it is `SameSite=Lax`, so a cross-site post lacks it. */
export function sessionOf(request: FastifyRequest) {
  return currentSession(request.server.context, readCookie(request, 'session'));
}

/** A posted form of ours; a form from another site has no session either. */
export async function receiveForm(request: FastifyRequest) {
  const session = isFromOwnPage(request) ? await sessionOf(request) : null;
  return { form: bodyParameters(request), session };
}

/** A form about a request, which is checked again. @throws {OAuthError} if it is missing or no longer valid */
export async function receiveRequestForm(request: FastifyRequest) {
  const carried = new Parameters(bodyParameters(request).require('request'));
  const cookie = isFromOwnPage(request) ? readCookie(request, 'session') : null;
  const loaded = await loadPending(request.server.context, carried, cookie);
  return { form: bodyParameters(request), ...loaded };
}

/** The form's request, checked again. @throws {OAuthError} if it is no longer valid */
export async function carriedRequest(request: FastifyRequest) {
  const carried = bodyParameters(request).get('request');
  if (carried === undefined) return null;
  return loadAuthorizationRequest(request.server.context, new Parameters(carried));
}
