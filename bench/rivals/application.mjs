import { headerOf } from '../load/answer.mjs';
import { Browser } from '../load/browser.mjs';
import { Connection } from '../load/connection.mjs';
import { loginOf } from '../people.mjs';
import { queryOf, tokenRequest } from './asking/adapter.mjs';
import { adapterOf } from './asking/index.mjs';
import { codeIn, newState } from './workloads.mjs';

const USER = 1;
const MOST_AT_A_TIME = 50;

/** One user's browser and the application, for requests one at a time or all at once. */
export class Application {
  #target;
  #adapter;
  #browser;
  #front;
  #api;
  #many;

  /** With the user signed in and all connections open. @param {import('./asking/adapter.mjs').Target} target */
  static async open(target) {
    const application = new Application(target);
    await application.#signIn();
    await application.exchangeAtOnce('nothing', MOST_AT_A_TIME);
    return application;
  }

  /** @param {import('./asking/adapter.mjs').Target} target */
  constructor(target) {
    const { port, apiPort } = target;
    this.#target = target;
    this.#adapter = adapterOf(target);
    this.#front = new Connection(port);
    this.#api = new Connection(apiPort);
    this.#browser = new Browser(this.#front, {}, this.#adapter.headers);
    this.#many = Array.from({ length: MOST_AT_A_TIME }, () => new Connection(port));
  }

  #signIn() {
    const query = queryOf(this.#target.client, newState());
    return this.#adapter.signIn(this.#browser, query, loginOf(USER), this.#target);
  }

  /** A new code: the user allows. */
  async code() {
    const state = newState();
    const query = queryOf(this.#target.client, state);
    const location = await this.#adapter.authorize(this.#browser, query, loginOf(USER), this.#target);
    return codeIn(location, state);
  }

  /** @param {string} code @param {Connection} connection */
  async exchange(code, connection = this.#front) {
    const answer = await connection.send(tokenRequest(this.#adapter, this.#target, code));
    const { access_token: token, error = '' } = jsonOf(answer.body);
    return answer.status === 200 ? { token, said: '' } : { said: `${answer.status} ${error}`.trim() };
  }

  /** @param {string} code @param {number} count @returns {Promise<{ token?: string, said: string }[]>} */
  exchangeAtOnce(code, count) {
    return Promise.all(this.#many.slice(0, count).map((connection) => this.exchange(code, connection)));
  }

  /** The number of tokens that introspection reports as active. @param {string[]} tokens */
  async alive(tokens) {
    let alive = 0;
    for (const token of tokens) {
      const { body } = await this.#api.send(this.#adapter.introspection(this.#target, token));
      if (jsonOf(body).active === true) alive += 1;
    }
    return alive;
  }

  /** The response to an authorization request posted by another site's page, without and with the session's cookies. @param {Record<string, string>} headers */
  async postFromAnotherSite(headers) {
    const stranger = new Browser(this.#front, {}, this.#adapter.headers);
    const ask = async (/** @type {Browser} */ browser) => {
      const query = queryOf(this.#target.client, newState());
      const { status, head, body } = await browser.post(this.#adapter.authorizePath, query, headers);
      const location = headerOf(head, 'location')?.replace(/[?&].*/, '');
      return `${status} ${location ?? /<title>([^<]*)/.exec(body)?.[1]?.trim() ?? ''}`.trim();
    };
    return { withoutSession: await ask(stranger), withSession: await ask(this.#browser) };
  }

  close() {
    for (const connection of [this.#front, this.#api, ...this.#many]) connection.close();
  }
}

/** @param {string} body @returns {any} undefined if not JSON */
function jsonOf(body) {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}
