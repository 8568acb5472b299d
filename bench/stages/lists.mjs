import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { OURS } from '../build.mjs';
import { freePort } from '../program.mjs';
import { inTurn } from '../rounds.mjs';
import { assentVariables, programOf, SERVE } from '../site.mjs';
import { exchangeRound } from './shared.mjs';

/** Simultaneous exchanges: busy, but not saturated. */
const CONNECTIONS = 16;
/** Who search the support pages at the same time, and how long each reads an answer. */
const OPERATORS = 10;
const READING_MS = 1_000;
const MANY_USERS = `
insert into users (login, login_key, name)
select login, login, case when n % 100 = 0 then 'Many Anna' else 'Many' end
  from (select n, 'many-' || lpad(n::text, 8, '0') as login from generate_series(1, $1::int) n) many`;

/** The effect of an operator that lists all users over HTTP on exchanges. @type {import('./shared.mjs').Stage} */
export const lists = {
  names: ['lists'],

  async run({ site, settings, loader }) {
    const database = await site.createDatabase('lists', settings.grants);
    await database.db.query(MANY_USERS, [settings.listed]);
    await database.db.query('vacuum analyze users');
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
    const tokens = Array.from({ length: OPERATORS }, (_, n) => {
      const create = [programOf(OURS), 'operator', 'create', `desk ${n}`, '--role', 'reads', '--json'];
      return JSON.parse(execFileSync(process.execPath, create, { env, encoding: 'utf8' })).operator_token;
    });
    const [token] = tokens;
    const port = await freePort();
    const variables = { ...assentVariables(database), ADMIN_PORT: String(port), ADMIN_HOST: '127.0.0.1' };
    const server = await site.startServer('assent-lists', SERVE, variables);
    const unlisted = () => exchangeRound({ loader, settings }, server, database, CONNECTIONS);
    const listed = async () => {
      const round = await unlisted();
      return {
        ...round,
        run: (/** @type {() => void} */ onCounting) => whileListing(port, token, () => round.run(onCounting)),
      };
    };
    const searched = async () => {
      const round = await unlisted();
      const cookies = await Promise.all(tokens.map((one) => signIn(port, one)));
      return {
        ...round,
        run: (/** @type {() => void} */ onCounting) =>
          whileSearching(port, cookies, settings.listed, () => round.run(onCounting)),
      };
    };
    const lines = [
      { name: 'unlisted', server, loader, prepare: unlisted },
      { name: 'listed', server, loader, prepare: listed },
      { name: 'searched', server, loader, prepare: searched },
    ];
    const results = await inTurn(lines, settings.rounds, site.postmaster);
    await server.stop();
    return results;
  },
};

/** @param {number} port @param {string} token @returns {Promise<string>} the cookie of a session of the support pages */
async function signIn(port, token) {
  const url = `http://127.0.0.1:${port}/support/sign-in`;
  const headers = { origin: `http://127.0.0.1:${port}` };
  const body = new URLSearchParams({ token });
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  const [cookie = ''] = response.headers.getSetCookie();
  if (response.status !== 303) throw new Error(`an operator was refused: ${response.status}`);
  return cookie.split(';')[0] ?? '';
}

/**
 * Operators who search the support pages, each again a second after the answer: for one login, for a name of one in a hundred,
 * and for none.
 *
 * @template Result @param {number} port @param {string[]} cookies @param {number} users @param {() => Promise<Result>} work
 */
async function whileSearching(port, cookies, users, work) {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  let searches = 0;
  const search = async (/** @type {string} */ cookie, /** @type {number} */ at) => {
    for (let n = at; !isDone; n += 1) {
      const login = `many-${String(((n * 7919) % users) + 1).padStart(8, '0')}`;
      const text = [login, 'anna', `nobody ${n}`][n % 3] ?? '';
      const url = `http://127.0.0.1:${port}/support?q=${encodeURIComponent(text)}`;
      const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
      await response.arrayBuffer();
      if (![200, 303].includes(response.status)) throw new Error(`a search was refused: ${response.status}`);
      searches += 1;
      await wait(READING_MS);
    }
  };
  await Promise.all(cookies.map(search));
  return { ...(await working), searches };
}

/**
 * Lists users, one page of 1,000 after the other, until the work is done.
 *
 * @template Result @param {number} port @param {string} token @param {() => Promise<Result>} work
 */
async function whileListing(port, token, work) {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  let pages = 0;
  for (let after = ''; !isDone; pages += 1) {
    const url = `http://127.0.0.1:${port}/v1/users?name=Many${after && `&after=${encodeURIComponent(after)}`}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`a list was refused: ${await response.text()}`);
    after = /** @type {{ next: string | null }} */ (await response.json()).next ?? '';
  }
  return { ...(await working), pages };
}
