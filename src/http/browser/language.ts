import type { FastifyRequest } from 'fastify';
import type { Language } from '../../languages/languages.ts';
import { AUTHORIZATION_PARAMETERS } from '../../rules/request/authorizationRequest.ts';
import { Parameters } from '../../rules/request/parameters.ts';
import { bodyParameters, queryParameters } from '../request/parameters.ts';
import { languageIn } from './cookies.ts';

type Sent = Pick<FastifyRequest, 'headers' | 'server'> & Partial<Pick<FastifyRequest, 'raw' | 'body'>>;

/** The user's earlier choice, here or in another browser; else the application's wish; else the browser's preference. */
export function languageOf(request: Sent): Language {
  const { headers } = request;
  const { languages } = request.server.context;
  const { 'accept-language': accepted = '' } = headers;
  return languageIn(headers, languages) ?? askedLanguage(request) ?? languages.preferred(accepted);
}

/** By `ui_locales` (OpenID Connect Core 1.0, section 3.1.2.1) of the request or of the form's request. */
function askedLanguage({ raw, body, server }: Sent): Language | undefined {
  const form = body instanceof Parameters ? body.only(['ui_locales', 'request']) : '';
  const sent = `${form}&${raw?.url?.replace(/^[^?]*\??/, '')}`;
  if (!sent.includes('ui_locales')) return undefined; // usually
  const fields = new URLSearchParams(sent);
  const tags = fields.get('ui_locales') ?? new URLSearchParams(fields.get('request') ?? '').get('ui_locales');
  return server.context.languages.nearest(tags?.split(' ', 10) ?? []);
}

export function textsOf(request: FastifyRequest) {
  return languageOf(request).texts;
}

/** The page of a signed-in user without a request. */
export const ACCOUNT_PATH = '/oauth/account';

/** A form can't return a longer address. */
const MAX_RETURN_PATH_CHARACTERS = 8_000;

/** A page's path and query: its own or, after a post, those of its authorization request. */
export function returnPathOf(request: FastifyRequest): string {
  try {
    const address = addressOf(request);
    if (address.length <= MAX_RETURN_PATH_CHARACTERS && isPathOfOurs(address)) return address;
  } catch {
    // Too many parameters, as this page itself says.
  }
  return ACCOUNT_PATH;
}

function addressOf(request: FastifyRequest): string {
  const { method, routeOptions, raw, wayBack } = request;
  if (wayBack !== undefined) return wayBack;
  if (method === 'GET') return raw.url ?? '';
  const form = bodyParameters(request);
  if (routeOptions?.url === '/oauth/authorize') {
    const sent = [queryParameters(request), form].map((one) => one.only(AUTHORIZATION_PARAMETERS));
    return `/oauth/authorize?${sent.filter(Boolean).join('&')}`;
  }
  const carried = new URLSearchParams(form.only(['request'])).get('request');
  // Longer than our own links: don't parse it.
  if (carried === null || carried.length > MAX_RETURN_PATH_CHARACTERS) return '';
  return `/oauth/authorize?${new Parameters(carried).only(AUTHORIZATION_PARAMETERS)}`;
}

export function requestPath({ canonicalQuery }: { readonly canonicalQuery: string }): string {
  return `/oauth/authorize?${canonicalQuery}`;
}

/** As pages and links carry it; error pages never repeat input. */
export const encodeReturnPath = (path: string): string => Buffer.from(path).toString('base64url');

/** The path and query to return to; undefined for a foreign URL. */
export function parseReturnPath(form: Parameters): string | undefined {
  const address = Buffer.from(form.get('back') ?? '', 'base64url').toString();
  return isPathOfOurs(address) ? address : undefined;
}

function isPathOfOurs(address: string): boolean {
  return /^\/(?!\/)[\x21-\x7e]*$/.test(address);
}
