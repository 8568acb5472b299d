import { OAuthError } from './error.ts';

/** How a caller says who it is: an identifier and, if it has one, a secret. */
export interface Credentials {
  readonly id: string;
  readonly secret: string | null;
}

/**
 * Credentials from HTTP Basic, each half percent-decoded (RFC 6749 section 2.3.1). Null when the header is
 * absent or of another scheme; an empty password is no secret.
 *
 * @throws {OAuthError} `invalid_request` when it is Basic but can't be read
 */
export function parseBasicCredentials(authorization: string | undefined): Credentials | null {
  const encoded = /^Basic +(.*)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) throw unreadable();
  const secret = formDecode(text.slice(colon + 1));
  return { id: formDecode(text.slice(0, colon)), secret: secret === '' ? null : secret };
}

function formDecode(encoded: string): string {
  try {
    const text = decodeURIComponent(encoded.replaceAll('+', ' '));
    if (!/[\0\uFFFD]/.test(text)) return text;
  } catch {
    // said below, in one place
  }
  throw unreadable();
}

function unreadable(): OAuthError {
  return new OAuthError('invalid_request', 'The Authorization header is not readable HTTP Basic.');
}
