import { invalidRequest } from './error.ts';
import { decodeForm, type Parameters } from './parameters.ts';

/** The identifier of an application or a resource server and, if it sent one, its secret. */
export interface Credentials {
  readonly id: string;
  readonly secret: string | null;
}

/**
 * Contract 2.4, client_id and client_secret: in the form or by HTTP Basic (RFC 6749 section 2.3.1), but not by both.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function parseClientCredentials(body: Parameters, authorization: string | undefined): Credentials {
  const basic = parseBasicCredentials(authorization);
  const id = body.get('client_id');
  const secret = body.get('client_secret') ?? null;
  if (basic === null) return { id: id ?? body.require('client_id'), secret };
  if (secret !== null && basic.secret !== null) {
    throw invalidRequest('The client secret was sent in the form and by HTTP Basic.');
  }
  if (id !== undefined && id !== basic.id) {
    throw invalidRequest('The form and HTTP Basic name two different applications.');
  }
  return { id: basic.id, secret: basic.secret ?? secret };
}

/** U+FFFD, escaped: another program's trace of bytes that were not UTF-8. */
const REPLACEMENT = '\uFFFD';

/**
 * Credentials from HTTP Basic, each half form-encoded (RFC 6749 section 2.3.1). An empty password is no secret.
 *
 * @returns null when the header is absent or of another scheme
 * @throws {OAuthError} `invalid_request` when it is Basic but can't be read
 */
export function parseBasicCredentials(authorization: string | undefined): Credentials | null {
  const encoded = /^Basic +(.*)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const id = decodeForm(text.slice(0, colon));
  const secret = decodeForm(text.slice(colon + 1));
  if (colon < 1 || id === undefined || secret === undefined || (id + secret).includes(REPLACEMENT)) {
    throw invalidRequest('The Authorization header is not readable HTTP Basic.');
  }
  return { id, secret: secret === '' ? null : secret };
}
