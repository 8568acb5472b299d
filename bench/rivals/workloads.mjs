import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Browser } from '../load/browser.mjs';
import { require } from '../load/message.mjs';
import { loginOf, REDIRECT_URI } from '../people.mjs';
import { queryOf, tokenRequest } from './asking/adapter.mjs';
import { adapterOf } from './asking/index.mjs';

/**
 * @typedef {import('../load/connection.mjs').Connection} Connection
 * @typedef {import('../load/drive.mjs').Workload} Workload
 * @typedef {import('./asking/adapter.mjs').Target} Target
 *
 * @typedef {{ login: string, cookies: Record<string, string>, made: number }} Person signed in, in a browser
 * @typedef {{ code: string, login: string }} Code @typedef {{ token: string, login: string }} Token
 */

/** A user's codes of one round coexist; those of earlier rounds are replaced. */
const APART = 50;
const MAX_TRIES = 5;
const COME_BACK_MS = 2_000;

/** The load's state of a product between phases. */
class Kept {
  /** Users without a flow in progress: each has one at a time. @type {Person[]} */
  free = [];
  /** @type {Code[]} */
  codes = [];
  /** @type {Token[]} */
  tokens = [];
}

/** @type {Map<string, Kept>} */
const KEPT = new Map();

/** @param {Target} target */
function keptOf({ product }) {
  const kept = KEPT.get(product) ?? new Kept();
  KEPT.set(product, kept);
  return kept;
}

/** Signs each user in, once for the whole run, and retries while passwords queue. @type {Workload} */
const signIn = {
  async ask(connection, user, { target }) {
    const login = loginOf(user);
    for (let tries = 1; ; tries += 1) {
      try {
        const cookies = await signedIn(connection, target, login);
        return void keptOf(target).free.push({ login, cookies, made: 0 });
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
        await sleep(COME_BACK_MS);
      }
    }
  },
};

/** @param {Connection} connection @param {Target} target @param {string} login */
async function signedIn(connection, target, login) {
  const adapter = adapterOf(target);
  const browser = new Browser(connection, {}, adapter.headers);
  await adapter.signIn(browser, queryOf(target.client, newState()), login, target);
  return browser.cookies;
}

/** Authorization request → consent → code → exchange. @type {Workload} */
const flow = {
  async ask(connection, _question, { target }) {
    await withPerson(target, async (person) => {
      const code = await codeFor(connection, target, person, (query) => query);
      await exchangeCode(connection, target, code);
    });
  },
};

/** The same without the exchange; its codes are kept for the next line. @type {Workload} */
const front = {
  async ask(connection, _question, { target }) {
    const { apart = (query) => query } = adapterOf(target);
    await withPerson(target, async (person) => {
      const code = await codeFor(connection, target, person, apart);
      keptOf(target).codes.push({ code, login: person.login });
    });
  },
};

/** The previous line's codes, once each. @type {Workload} */
const exchange = {
  items: ({ target }) => keptOf(target).codes.splice(0),
  async ask(connection, /** @type {Code} */ { code, login }, { target }) {
    const token = await exchangeCode(connection, target, code);
    keptOf(target).tokens.push({ token, login });
  },
};

/** The previous line's tokens, in turn. @type {Workload} */
const introspection = {
  items: ({ target }) => keptOf(target).tokens.splice(0),
  async ask(connection, /** @type {Token} */ { token, login }, { target }) {
    const answer = await connection.send(adapterOf(target).introspection(target, token));
    require(answer.status === 200, 'no introspection', answer);
    const { active, scope, username = login } = JSON.parse(answer.body);
    const right = active === true && scope.includes('account-info') && username === login;
    require(right, 'another answer than was wanted', answer);
  },
};

/** @type {Record<string, Workload>} */
export const WORKLOADS = { signIn, flow, front, exchange, introspection };

/** Takes an idle user for one flow. @param {Target} target @param {(person: Person) => Promise<void>} work */
async function withPerson(target, work) {
  const { free } = keptOf(target);
  const person = free.shift();
  if (person === undefined) throw new Error('more flows at a time than users');
  await work(person).finally(() => free.push(person));
}

/** @param {Connection} connection @param {Target} target @param {Person} person @param {(query: string, n: number) => string} apart */
async function codeFor(connection, target, person, apart) {
  const adapter = adapterOf(target);
  const browser = new Browser(connection, person.cookies, adapter.headers);
  const state = newState();
  const query = apart(queryOf(target.client, state), person.made++ % APART);
  const location = await adapter.authorize(browser, query, person.login, target);
  person.cookies = browser.cookies;
  return codeIn(location, state);
}

/** @param {string} location @param {string} state */
export function codeIn(location, state) {
  const { searchParams } = new URL(location);
  const code = searchParams.get('code');
  const isOurs = location.startsWith(REDIRECT_URI) && searchParams.get('state') === state;
  if (!isOurs || code === null) throw new Error(`not back at the application with a code: ${location}`);
  return code;
}

export const newState = () => randomBytes(9).toString('base64url');

/** @param {Connection} connection @param {Target} target @param {string} code @returns {Promise<string>} */
async function exchangeCode(connection, target, code) {
  const answer = await connection.send(tokenRequest(adapterOf(target), target, code));
  require(answer.status === 200, 'no token', answer);
  const { access_token, token_type, id_token } = JSON.parse(answer.body);
  const right = access_token && token_type.toLowerCase() === 'bearer' && id_token === undefined;
  require(right, 'not the token that was wanted', answer);
  return access_token;
}
