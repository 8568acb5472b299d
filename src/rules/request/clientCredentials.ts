import { OAuthError } from '../common/error.ts';
import { decodeForm, type Parameters } from './parameters.ts';

/** The identifier of an application or a resource server, and its secret if sent. */
export type Credentials = Readonly<NonNullable<ReturnType<typeof parseBasicCredentials>>>;

/** In the form or by HTTP Basic (contract 2.4, RFC 6749 section 2.3.1). @throws {OAuthError} `invalid_request` for both */
export function parseClientCredentials(body: Parameters, authorization: string | undefined): Credentials {
  const basic = parseBasicCredentials(authorization);
  const id = body.get('client_id');
  const secret = body.get('client_secret') ?? null;
  if (basic === null) return { id: id ?? body.require('client_id'), secret };
  if (secret !== null && basic.secret !== null)
    throw new OAuthError('two_client_secrets', 'The client secret was sent in the form and by HTTP Basic.');
  if (id !== undefined && id !== basic.id)
    throw new OAuthError('two_client_ids', 'The form and HTTP Basic name two different applications.');
  return { id: basic.id, secret: basic.secret ?? secret };
}

/**
 * The credentials in HTTP Basic, each half form-encoded (RFC 6749 section 2.3.1); null without. An empty password is none.
 * @throws {OAuthError} `invalid_request` for unreadable Basic
 */
export function parseBasicCredentials(authorization: string | undefined) {
  const encoded = /^Basic +(.*)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const id = decodeForm(text.slice(0, colon));
  const secret = decodeForm(text.slice(colon + 1));
  // U+FFFD, escaped, is another program's replacement of bytes that were not UTF-8.
  if (colon < 1 || id === undefined || secret === undefined || (id + secret).includes('\uFFFD'))
    throw new OAuthError('unreadable_credentials', 'The Authorization header is not readable HTTP Basic.');
  return { id, secret: secret === '' ? null : secret };
}
