import { MAX_CANONICAL_QUERY_BYTES } from './limits.ts';

/**
 * Parameters of our answer, or of an answer that a library may take it for (implicit flow, OpenID Connect). Appended to a
 * redirect URI, they would forge a part of it.
 */
const ANSWER_PARAMETERS = [
  ...['code', 'error', 'error_description', 'error_uri', 'state', 'iss', 'session_state'],
  ...['access_token', 'id_token', 'token_type', 'expires_in', 'scope'],
];

/**
 * Why the redirect URI of a request is not the registered one, character by character; null when it is. Application-specific
 * parameters may be appended (contract 2.2). Nothing is decoded, lower-cased or normalised first: two spellings are two
 * addresses.
 */
export function redirectUriMismatch(registered: string, sent: string): string | null {
  if (sent === registered) return null;
  if (sent.length > MAX_CANONICAL_QUERY_BYTES) {
    return `redirect_uri is longer than ${MAX_CANONICAL_QUERY_BYTES} characters`;
  }
  if (!sent.startsWith(registered)) {
    return `redirect_uri differs from the registered one at character ${firstDifference(registered, sent) + 1}`;
  }
  const appended = sent.slice(registered.length);
  const separator = registered.includes('?') ? '&' : '?';
  if (!appended.startsWith(separator)) {
    return `redirect_uri continues the registered one with something else than ${separator} at character ${registered.length + 1}`;
  }
  if (!/^[\x21\x22\x24-\x7e]+$/.test(appended)) {
    return 'redirect_uri has appended characters other than visible ASCII, or a fragment';
  }
  const reserved = new Set([...ANSWER_PARAMETERS, ...parameterNames(queryOf(registered))]);
  for (const name of parameterNames(appended.slice(1))) {
    if (name === undefined) return 'redirect_uri appends an undecodable parameter name';
    if (reserved.has(name)) return `redirect_uri appends the reserved parameter ${name}`;
  }
  return null;
}

/** The first parameter in a URI's query that would forge a part of our answer; undefined when there is none. */
export function answerParameterIn(uri: string): string | undefined {
  return parameterNames(queryOf(uri)).find((name) => ANSWER_PARAMETERS.includes(name ?? ''));
}

/**
 * The names of a query as the most lenient receiver would read them: `;` as a separator, a second `?` and
 * surrounding space dropped, case ignored, `.` and space taken for `_`, cut at `[` or a control character.
 * `undefined` stands for a name that can't be decoded.
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

function queryOf(uri: string): string {
  const start = uri.indexOf('?');
  return start < 0 ? '' : uri.slice(start + 1);
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Where an answer goes: the redirect URI exactly as it was sent, and the state if one was. */
export interface AnswerTarget {
  readonly redirectUri: string;
  readonly state: string | null;
}

/**
 * The `Location` of an answer (contract 4.1). `state` goes first and nothing follows the answer itself: some applications
 * cut off whatever follows `code`.
 */
export function answerLocation(target: AnswerTarget, name: 'code' | 'error', value: string): string {
  const answer = `${name}=${encodeURIComponent(value)}`;
  const { redirectUri, state } = target;
  return appendQuery(redirectUri, state === null ? answer : `state=${encodeURIComponent(state)}&${answer}`);
}

function appendQuery(uri: string, query: string): string {
  if (!uri.includes('?')) return `${uri}?${query}`;
  // Only the first `?` begins a query; a later one at the end belongs to the value before it.
  return /^[^?]*\?$|&$/.test(uri) ? `${uri}${query}` : `${uri}&${query}`;
}
