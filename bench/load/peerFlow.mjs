import { cookieHeader, cookiesAfter, form, get, locationOf, post, require } from './message.mjs';

/** Cookies of the accounts that are signed in. */
const SESSIONS = new Map();

/**
 * The peer's flow that is equal to ours: a signed-in browser goes through authorization request, consent page and
 * confirmation, and its application exchanges the code. `item` has the account's login.
 *
 * @type {import('./drive.mjs').Workload}
 */
export const peerFlow = {
  /** Signs in, in the first round only, and keeps the session's cookies. */
  async before(connection, item, job) {
    if (SESSIONS.has(item.login)) return;
    const browser = new Browser(connection, {});
    let location = await browser.follow(authorizationRequest(job), 303);
    await browser.page(location);
    location = await browser.send(`${location}/login`, form({ login: item.login }));
    // Signing in ends in the consent of the same request.
    location = await browser.follow(location, 303);
    location = await browser.send(`${location}/confirm`, '');
    await browser.follow(location, 303);
    SESSIONS.set(item.login, browser.cookies);
  },

  async ask(connection, item, job) {
    const browser = new Browser(connection, SESSIONS.get(item.login));
    const interaction = await browser.follow(authorizationRequest(job), 303);
    await browser.page(interaction);
    const back = await browser.send(`${interaction}/confirm`, '');
    const location = await browser.follow(back, 303);
    SESSIONS.set(item.login, browser.cookies);
    const code = new URL(location).searchParams.get('code') ?? '';
    const answer = await connection.send(post('/token', form({ ...job.tokenRequest, code })));
    require(answer.status === 200 && JSON.parse(answer.body).access_token !== undefined, 'no token', answer);
  },
};

/** @param {{ query: string }} job */
function authorizationRequest({ query }) {
  return `/auth?${query}&prompt=consent`;
}

/** Keeps cookies and follows what it is told to. */
class Browser {
  #connection;

  /** @param {import('./connection.mjs').Connection} connection @param {Record<string, string>} cookies */
  constructor(connection, cookies) {
    this.#connection = connection;
    this.cookies = cookies;
  }

  /** @param {string} target */
  async page(target) {
    const answer = await this.#ask(get(pathOf(target), this.#headers()));
    require(answer.status === 200 && answer.body.includes('<form'), 'no page', answer);
  }

  /** @param {string} target @param {number} status */
  async follow(target, status) {
    return locationOf(await this.#ask(get(pathOf(target), this.#headers())), status);
  }

  /** @param {string} target @param {string} body */
  async send(target, body) {
    return locationOf(await this.#ask(post(pathOf(target), body, this.#headers())), 303);
  }

  /** @param {Buffer} request */
  async #ask(request) {
    const answer = await this.#connection.send(request);
    this.cookies = cookiesAfter(answer, this.cookies);
    return answer;
  }

  #headers() {
    const cookie = cookieHeader(this.cookies);
    return cookie === '' ? {} : { cookie };
  }
}

/** @param {string} target */
function pathOf(target) {
  const { pathname, search } = new URL(target, 'http://127.0.0.1');
  return pathname + search;
}
