import { cookieHeader, cookiesAfter, get, post, redirectOf, require } from './message.mjs';

/** @typedef {import('./connection.mjs').Connection} Connection @typedef {import('./message.mjs').Answer} Answer */

/** Keeps one site's cookies and follows redirects. */
export class Browser {
  /** @type {Record<string, string>} */
  cookies;
  #connection;
  #headers;

  /** @param {Connection} connection @param {Record<string, string>} [cookies] @param {Record<string, string>} [headers] of each request */
  constructor(connection, cookies = {}, headers = {}) {
    this.#connection = connection;
    this.cookies = cookies;
    this.#headers = headers;
  }

  /** A page's response. @param {string} target @param {Record<string, string>} [headers] */
  async page(target, headers) {
    const answer = await this.get(target, headers);
    require(answer.status === 200 && answer.body.includes('<form'), 'no page', answer);
    return answer;
  }

  /** A link's destination. @param {string} target @param {Record<string, string>} [headers] */
  async follow(target, headers) {
    return redirectOf(await this.get(target, headers));
  }

  /** A form's destination. @param {string} target @param {string} body @param {Record<string, string>} [headers] */
  async send(target, body, headers) {
    return redirectOf(await this.post(target, body, headers));
  }

  /** @param {string} target @param {Record<string, string>} [headers] */
  get(target, headers = {}) {
    return this.#ask(get(pathOf(target), this.#all(headers)));
  }

  /** @param {string} target @param {string} body @param {Record<string, string>} [headers] */
  post(target, body, headers = {}) {
    return this.#ask(post(pathOf(target), body, this.#all(headers)));
  }

  /** @param {Buffer} request */
  async #ask(request) {
    const answer = await this.#connection.send(request);
    this.cookies = cookiesAfter(answer, this.cookies);
    return answer;
  }

  /** @param {Record<string, string>} headers */
  #all(headers) {
    const cookie = cookieHeader(this.cookies);
    return { ...this.#headers, ...headers, ...(cookie === '' ? {} : { cookie }) };
  }
}

/** @param {string} target a path, or an address of the same server */
function pathOf(target) {
  if (target.startsWith('/')) return target;
  const { pathname, search } = new URL(target);
  return pathname + search;
}
