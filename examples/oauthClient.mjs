// The OAuth part of an application, in one file without dependencies: copy it. The demo application of trial mode runs it
// unchanged. An application is `{ server, clientId, clientSecret, redirectUri }`, as registered.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TIMEOUT_MS = 10_000;

/** A refusal by the server: `error` as in RFC 6749, `description` for the log. */
export class OAuthRefusal extends Error {
  constructor(error, description) {
    super(description ? `${error}: ${description}` : error);
    this.error = error;
    this.description = description ?? '';
  }
}

/** New for each request. Keep it in the user's session until the browser returns, and keep it secret. */
export function newAttempt() {
  return { state: randomText(), verifier: randomText() };
}

/** The form for the user's browser to post to `${server}/oauth/authorize`. */
export function authorizationRequest({ clientId, redirectUri }, attempt, scope, instanceName = '') {
  const challenge = createHash('sha256').update(attempt.verifier).digest('base64url');
  return {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope,
    ...(instanceName === '' ? {} : { instance_name: instanceName }),
    state: attempt.state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
}

/**
 * Reads the query of the returning browser. Forget the attempt when this returns: an answer is valid once.
 *
 * @returns the code
 * @throws {OAuthRefusal} `access_denied` if the user refused; `unasked_answer` if the answer belongs to no attempt
 */
export function readAnswer(query, attempt) {
  if (!attempt || !isSame(query.get('state') ?? '', attempt.state)) throw new OAuthRefusal('unasked_answer');
  const [code, error] = [query.get('code'), query.get('error')];
  if (code === null) throw new OAuthRefusal(error ?? 'no_code', query.get('error_description'));
  return code;
}

/**
 * Exchanges a code, from your server. Never send it twice: a reused code looks stolen, and its token is revoked.
 * So this doesn't retry.
 *
 * @returns the token and its lifetime in seconds; store the token encrypted
 * @throws {OAuthRefusal}
 */
export async function exchange(application, attempt, code, fetch = globalThis.fetch) {
  const { clientId, clientSecret, redirectUri } = application;
  const answer = await post(`${application.server}/oauth/token`, fetch, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: clientId,
    client_secret: clientSecret,
    code_verifier: attempt.verifier,
  });
  const { access_token: accessToken, expires_in: expiresIn } = await answer.json();
  return { accessToken, expiresIn };
}

/** Revokes a token, for example when the user leaves. @throws {OAuthRefusal} */
export async function revoke({ server, clientId, clientSecret }, token, fetch = globalThis.fetch) {
  await post(`${server}/oauth/revoke`, fetch, { client_id: clientId, client_secret: clientSecret, token });
}

async function post(url, fetch, fields) {
  const answer = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'error', // no other server may get the secret
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.ok) return answer;
  const { error, error_description } = await answer
    .json()
    .catch(() => ({ error: `status ${answer.status}` }));
  throw new OAuthRefusal(error, error_description);
}

function randomText() {
  return randomBytes(32).toString('base64url');
}

/** Compares in constant time. */
function isSame(text, expected) {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
