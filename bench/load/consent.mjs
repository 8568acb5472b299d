import { form, formTo, get, locationOf, post, require } from './message.mjs';

/**
 * A signed-in browser and its application: `item` has the session's cookie, the user's login, the canonical query of the
 * authorization request, and the fields of the token request without the code.
 */

/**
 * A signed-in user's authorize page: the request, the application, and the decision form.
 *
 * @type {import('./drive.mjs').Workload}
 */
export const page = {
  prepare: asked,
  async ask(connection, item) {
    await seeConsent(connection, item);
  },
};

/** Allow on a page fetched before: a redirect with a code. @type {import('./drive.mjs').Workload} */
export const approval = {
  prepare: asked,
  async before(connection, item) {
    item.allow = allowRequest(item, await seeConsent(connection, item));
  },
  async ask(connection, item) {
    await allow(connection, item, item.allow);
  },
};

/** The whole flow: page, approval, exchange. @type {import('./drive.mjs').Workload} */
export const flow = {
  prepare: asked,
  async ask(connection, item, { tokenShape }) {
    const shown = await seeConsent(connection, item);
    const code = await allow(connection, item, allowRequest(item, shown));
    const answer = await connection.send(post('/oauth/token', form({ ...item.tokenRequest, code })));
    require(answer.status === 200 && tokenShape.test(answer.body), 'no token', answer);
  },
};

/** @param {{ query: string, cookie: string }} item */
function asked(item) {
  return { ...item, request: pageRequest(item) };
}

/** @param {{ query: string, cookie: string }} item */
function pageRequest({ query, cookie }) {
  return get(`/oauth/authorize?${query}`, { cookie, 'sec-fetch-site': 'cross-site' });
}

/**
 * @returns the consent form
 *
 * @param {import('./connection.mjs').Connection} connection @param {{ request: Buffer, login: string }} item
 */
async function seeConsent(connection, { request, login }) {
  const answer = await connection.send(request);
  const isConsent = answer.status === 200 && answer.body.includes('data-page="consent"');
  require(isConsent && answer.body.includes(login), 'no consent page of this user', answer);
  return formTo(answer, '/consent');
}

/** @param {{ cookie: string }} item @param {ReturnType<typeof formTo>} shown */
function allowRequest({ cookie }, { action, fields }) {
  return post(action, form({ ...fields, decision: 'allow' }), {
    cookie,
    'sec-fetch-site': 'same-origin',
  });
}

/**
 * @returns the code
 *
 * @param {import('./connection.mjs').Connection} connection @param {{ redirectUri: string }} item @param {Buffer} request
 */
async function allow(connection, { redirectUri }, request) {
  const location = locationOf(await connection.send(request), 302);
  const [, code] = location.split(`${redirectUri}?code=`);
  if (code === undefined) throw new Error(`no code: ${location}`);
  return code;
}
