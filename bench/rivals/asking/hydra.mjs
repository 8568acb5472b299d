import { Connection } from '../../load/connection.mjs';
import { form, get, post, require } from '../../load/message.mjs';

/** @typedef {import('./adapter.mjs').Target} Target */

/** Like the proxy that ends TLS: Hydra's issuer must be https. */
const TLS = { 'x-forwarded-proto': 'https' };
const REQUESTS = '/admin/oauth2/auth/requests';

/**
 * Ory Hydra has no sign-in and no consent page: it redirects to an application of the operator, which answers over
 * the admin API. Here the load itself is this application, and shows nothing: it does less than any other.
 *
 * @type {import('./adapter.mjs').Adapter}
 */
export const hydra = {
  headers: TLS,
  authorizePath: '/oauth2/auth',
  tokenPath: '/oauth2/token',
  introspection: (_target, token) => post('/admin/oauth2/introspect', form({ token }), TLS),

  async signIn(browser, query, login, target) {
    await through(browser, query, login, target);
  },

  async authorize(browser, query, login, target) {
    const { known, location } = await through(browser, query, login, target);
    if (!known) throw new Error('the sign-in was not remembered');
    return location;
  },
};

/**
 * @param {import('./adapter.mjs').Browser} browser @param {string} query @param {string} login @param {Target} target
 */
async function through(browser, query, login, target) {
  const challenge = challengeIn(await browser.follow(`/oauth2/auth?${query}`), 'login');
  const asked = await admin(target, 'login', challenge);
  const who = asked.skip ? { subject: asked.subject } : { subject: login, remember: true, remember_for: 0 };
  const toConsent = await browser.follow(await accept(target, 'login', challenge, who));
  const consent = challengeIn(toConsent, 'consent');
  const wanted = await admin(target, 'consent', consent);
  if (wanted.subject !== login || wanted.skip) throw new Error('consent of another user, or skipped');
  const given = { grant_scope: wanted.requested_scope, remember: false, session: {} };
  const location = await browser.follow(await accept(target, 'consent', consent, given));
  return { known: asked.skip, location };
}

/** @param {string} location @param {'login' | 'consent'} kind */
function challengeIn(location, kind) {
  const challenge = new URL(location).searchParams.get(`${kind}_challenge`);
  if (challenge === null) throw new Error(`no ${kind} challenge: ${location}`);
  return form({ [`${kind}_challenge`]: challenge });
}

/** @param {Target} target @param {'login' | 'consent'} kind @param {string} challenge */
function admin(target, kind, challenge) {
  return call(target, get(`${REQUESTS}/${kind}?${challenge}`, TLS));
}

/** @param {Target} target @param {'login' | 'consent'} kind @param {string} challenge @param {object} decision @returns {Promise<string>} */
async function accept(target, kind, challenge, decision) {
  const body = JSON.stringify(decision);
  const request = put(`${REQUESTS}/${kind}/accept?${challenge}`, body);
  return (await call(target, request)).redirect_to;
}

/** @param {string} target @param {string} body JSON */
function put(target, body) {
  const type = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  const head = `PUT ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-proto: https\r\n${type}`;
  return Buffer.from(`${head}\r\n${body}`);
}

/** Idle connections to the admin API. @type {Map<number, Connection[]>} */
const FREE = new Map();

/** @param {Target} target @param {Buffer} request @returns {Promise<any>} */
async function call({ apiPort }, request) {
  const free = FREE.get(apiPort) ?? [];
  FREE.set(apiPort, free);
  const connection = free.pop() ?? new Connection(apiPort);
  const answer = await connection.send(request);
  free.push(connection);
  require(answer.status === 200, 'the admin API refused', answer);
  return JSON.parse(answer.body);
}
