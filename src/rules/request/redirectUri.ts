import { MAX_CANONICAL_QUERY_BYTES, MAX_REDIRECT_URI_CHARACTERS } from '../common/limits.ts';
import { isLoopback } from '../common/network.ts';
import type { OAuthRuleId } from '../common/refusals.ts';

/** Parameters of our response, or of one that libraries mistake for it: a redirect URI would forge it. */
const ANSWER_PARAMETERS = [
  ...['code', 'error', 'error_description', 'error_uri', 'iss', 'session_state'],
  ...['access_token', 'id_token', 'token_type', 'expires_in'],
];
/** Those that applications also use for themselves: only `--force` registers them. */
const AMBIGUOUS_PARAMETERS = ['state', 'scope'];

const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?(?=[/?]|$)/;

/** `sent` with the registered port, which alone may differ on this device (RFC 8252 section 7.3); another URI as it is. */
export function withLoopbackPortOf(registered: string, sent: string): string {
  const [own = '', host] = LOOPBACK.exec(registered) ?? [];
  const [other = '', sentHost = '', port = '80'] = LOOPBACK.exec(sent) ?? [];
  return host === sentHost && Number(port) <= 65_535 ? own + sent.slice(other.length) : sent;
}

/**
 * The rule that `sent` breaks against the registered URI; null if it matches. Application-specific parameters may be appended
 * (contract 2.2), also `state`, which the contract's request lacks. No decoding, lower-casing or normalizing first: two spellings
 * are two addresses.
 */
export function redirectUriMismatch(registered: string, sent: string) {
  if (sent === registered) return null;
  if (sent.length > MAX_CANONICAL_QUERY_BYTES)
    return broken('redirect_uri_too_long', `is longer than ${MAX_CANONICAL_QUERY_BYTES} characters`);
  if (!sent.startsWith(registered)) {
    const at = registered.split('').findIndex((unit, index) => unit !== sent[index]);
    return broken('redirect_uri_unregistered', `differs from the registered one at character ${at + 1}`);
  }
  const appended = sent.slice(registered.length);
  const separator = registered.includes('?') ? '&' : '?';
  if (!appended.startsWith(separator)) {
    const rule = `must continue with ${separator} after the registered URI; character ${registered.length + 1} differs`;
    return broken('redirect_uri_unregistered', rule);
  }
  const rule = appendedProblem(registered, appended);
  return rule === null ? null : broken('redirect_uri_appended', rule);
}

const broken = (ruleId: OAuthRuleId, rule: string) => [ruleId, `redirect_uri ${rule}`] as const;

function appendedProblem(registered: string, appended: string): string | null {
  if (!/^[\x21\x22\x24-\x7e]+$/.test(appended))
    return 'has appended characters other than visible ASCII, or a fragment';
  const reserved = new Set([...ANSWER_PARAMETERS, 'scope', ...namesIn(registered)]);
  for (const name of parameterNames(appended.slice(1))) {
    if (name === undefined) return 'appends an undecodable parameter name';
    if (reserved.has(name)) return `appends the reserved parameter ${name}`;
  }
  return null;
}

/** Schemes that run or read something in the browser instead of leading to an application. */
const UNSAFE_SCHEMES = [
  ...['javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'view-source', 'filesystem'],
  ...['mailto', 'tel', 'sms', 'ftp', 'ws', 'wss'],
];

/** The reason to refuse `uri` as a redirect URI, as the end of a sentence; undefined if valid. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > MAX_REDIRECT_URI_CHARACTERS)
    return `it is longer than ${MAX_REDIRECT_URI_CHARACTERS} characters`;
  if (uri.includes('#')) return 'it has a fragment (#), which a redirect URI must not have';
  if (!/^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/.test(uri))
    return 'it has characters that are not allowed in a URI';
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined || !URL.canParse(uri)) return 'it is not an absolute URI';
  if (UNSAFE_SCHEMES.includes(scheme)) return `the scheme "${scheme}:" does not lead to an application`;
  if (/^[^:]+:\/\/[^/?]*@/.test(uri)) return 'it has a user name';
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/?]/i.test(uri)) return 'it needs a host';
  if (/%(?![0-9A-Fa-f]{2})/.test(uri)) return 'it has a % without two hex digits after it';
  const forging = namesIn(uri).find((name = '') => ANSWER_PARAMETERS.includes(name));
  return forging && `its query has ${forging}, a parameter of Assent’s response`;
}

/** The reason why only `--force` registers a valid redirect URI, as the end of a sentence (RFC 9700 section 2.6); null for none. */
export function redirectUriDoubt(uri: string): string | null {
  const { protocol, hostname } = new URL(uri);
  if (/^(intent|android-app|market):$/.test(protocol))
    return `has the scheme ${protocol}, which browsers rewrite to another address`;
  if (protocol === 'http:' && !isLoopback(hostname)) return 'receives codes unencrypted, without https';
  const name = namesIn(uri).find((one = '') => AMBIGUOUS_PARAMETERS.includes(one));
  return name === undefined ? null : `has ${name} in its query, which libraries read as part of the response`;
}

/** How often `state` is in its query: an answer must have it at most once. */
export const countStates = (uri: string) => namesIn(uri).filter((name) => name === 'state').length;

/**
 * A query's names as the most lenient receiver reads them: `;` as a separator, a second `?` and space around dropped, case
 * ignored, `.` and space as `_`, cut at `[` or a control character. Undefined for an undecodable one.
 */
function parameterNames(query: string): (string | undefined)[] {
  const encoded = query.split(/[&;]/).map((pair) => pair.split('=', 1)[0] ?? '');
  return encoded.filter((name) => name !== '').map(lenientName);
}

function lenientName(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded.replaceAll('+', ' '));
    const name = decoded.replace(/^[?\s]+/, '').split(/[[\p{Cc}]/u, 1)[0] ?? '';
    return name.trim().toLowerCase().replaceAll(/[. ]/g, '_');
  } catch {
    return undefined;
  }
}

const namesIn = (uri: string) => parameterNames(uri.replace(/^[^?]*\??/, ''));

/**
 * The `Location` of an answer (contract 4.1). `state` comes first: some applications cut off everything after `code`.
 * @param issuer as `iss` (RFC 9207); null for an application that doesn't expect it
 */
export function answerLocation(
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | null },
  name: 'code' | 'error',
  value: string,
  issuer: string | null = null,
): string {
  const issued = issuer === null ? '' : `iss=${encodeURIComponent(issuer)}&`;
  const answer = `${issued}${name}=${encodeURIComponent(value)}`;
  const query = state === null ? answer : `state=${encodeURIComponent(state)}&${answer}`;
  if (!redirectUri.includes('?')) return `${redirectUri}?${query}`;
  // Only the first `?` begins a query; a later one at the end belongs to the value before it.
  return redirectUri + (/^[^?]*\?$|&$/.test(redirectUri) ? '' : '&') + query;
}

/** True for the scheme of an application on the device: the browser asks, and its page stays. */
export function hasOwnScheme(redirectUri: string): boolean {
  return !/^https?:/i.test(redirectUri);
}
