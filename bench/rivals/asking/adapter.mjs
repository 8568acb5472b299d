import { form, post, require, unescapeHtml } from '../../load/message.mjs';
import { REDIRECT_URI, SCOPE } from '../../people.mjs';

/**
 * @typedef {import('../../load/browser.mjs').Browser} Browser @typedef {import('../../load/message.mjs').Answer} Answer
 *
 * @typedef {{ id: string, secret: string }} Credentials
 *
 * @typedef {object} Target a running product, for the load
 * @property {string} product its name in `products.mjs`
 * @property {string} adapter its name in `asking/index.mjs`
 * @property {number} port
 * @property {number} users their number, counted from 1
 * @property {number} apiPort the port for introspection
 * @property {Credentials} client the application
 * @property {Credentials} api the introspecting client
 *
 * @typedef {object} Adapter a product's form of the common requests
 * @property {Record<string, string>} [headers] of every request
 * @property {string} authorizePath of the authorization endpoint
 * @property {(browser: Browser, query: string, login: string, target: Target) => Promise<unknown>} signIn
 * @property {(browser: Browser, query: string, login: string, target: Target) => Promise<string>} authorize from the authorization
 *   request of a signed-in user over consent, which is required every time, to the redirect's address
 * @property {(query: string, n: number) => string} [apart] changes a request so that its code doesn't end the user's others
 * @property {string} tokenPath
 * @property {(target: Target, token: string) => Buffer} introspection a request about a token
 */

/** @param {Credentials} client @param {string} state */
export function queryOf(client, state) {
  return form({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state,
  });
}

/** The token request: the secret is in the form for all. @param {Adapter} adapter @param {Target} target @param {string} code */
export function tokenRequest({ tokenPath, headers }, { client }, code) {
  const body = form({
    grant_type: 'authorization_code',
    client_id: client.id,
    client_secret: client.secret,
    redirect_uri: REDIRECT_URI,
    code,
  });
  return post(tokenPath, body, headers);
}

/** Introspection with HTTP Basic. @param {string} path @returns {Adapter['introspection']} */
export function askedWithBasic(path) {
  return ({ api }, token) => {
    const credentials = Buffer.from(`${api.id}:${api.secret}`).toString('base64');
    return post(path, form({ token }), { authorization: `Basic ${credentials}` });
  };
}

/** Introspection with the secret in the form. @param {string} path @returns {Adapter['introspection']} */
export function askedWithFields(path) {
  return ({ api }, token) => post(path, form({ token, client_id: api.id, client_secret: api.secret }));
}

/** The form with a matching opening tag: its action and hidden fields. @param {Answer} answer @param {RegExp} opening */
export function formOn(answer, opening) {
  const start = answer.body.search(opening);
  require(answer.status === 200 && start >= 0, `no form ${opening}`, answer);
  const text = answer.body.slice(start, answer.body.indexOf('</form>', start));
  /** @type {Record<string, string>} */
  const fields = {};
  for (const [tag] of text.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
    fields[attribute(tag, 'name')] = attribute(tag, 'value');
  }
  return { action: attribute(text.slice(0, text.indexOf('>')), 'action'), fields };
}

/** @param {string} tag @param {string} name */
function attribute(tag, name) {
  return unescapeHtml(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}
