import { Browser } from './browser.mjs';
import { form, post, require } from './message.mjs';

/** Cookies of the signed-in accounts. */
const SESSIONS = new Map();

/**
 * The peer's flow that equals ours: a signed-in browser goes through authorization request, consent page and
 * confirmation, and its application exchanges the code. `item` has the account's login.
 *
 * @type {import('./drive.mjs').Workload}
 */
export const peerFlow = {
  /** Signs in, in the first round only, and keeps the session's cookies. */
  async before(connection, item, job) {
    if (SESSIONS.has(item.login)) return;
    const browser = new Browser(connection);
    let location = await browser.follow(authorizationRequest(job));
    await browser.page(location);
    location = await browser.send(`${location}/login`, form({ login: item.login }));
    // Sign-in ends in the consent of the same request.
    location = await browser.follow(location);
    location = await browser.send(`${location}/confirm`, '');
    await browser.follow(location);
    SESSIONS.set(item.login, browser.cookies);
  },

  async ask(connection, item, job) {
    const browser = new Browser(connection, SESSIONS.get(item.login));
    const interaction = await browser.follow(authorizationRequest(job));
    await browser.page(interaction);
    const back = await browser.send(`${interaction}/confirm`, '');
    const location = await browser.follow(back);
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
