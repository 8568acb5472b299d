import { form, get, hiddenFields, locationOf, post, require } from './message.mjs';

/**
 * A signed-in browser and its application: `item` has the session's cookie, the user's login, the canonical query of the
 * authorization request, and the fields of the token request but the code.
 */

/** The authorize page of a signed-in user: what is asked, by whom, and the form with the decision. */
export const page = {
  prepare: (item) => ({ ...item, request: pageRequest(item) }),
  async ask(connection, item) {
    await seeConsent(connection, item);
  },
};

/** Allow on a page that was fetched before: a redirect with a code. */
export const approval = {
  prepare: page.prepare,
  async before(connection, item) {
    item.allow = allowRequest(item, await seeConsent(connection, item));
  },
  async ask(connection, item) {
    await allow(connection, item, item.allow);
  },
};

/** The whole flow: page, approval, exchange. */
export const flow = {
  prepare: page.prepare,
  async ask(connection, item, { tokenShape }) {
    const fields = await seeConsent(connection, item);
    const code = await allow(connection, item, allowRequest(item, fields));
    const answer = await connection.send(post('/oauth/token', form({ ...item.tokenRequest, code })));
    require(answer.status === 200 && tokenShape.test(answer.body), 'no token', answer);
  },
};

function pageRequest({ query, cookie }) {
  return get(`/oauth/authorize?${query}`, { cookie, 'sec-fetch-site': 'cross-site' });
}

/** @returns the hidden fields of the consent form */
async function seeConsent(connection, { request, login }) {
  const answer = await connection.send(request);
  const isConsent = answer.status === 200 && answer.body.includes('data-page="consent"');
  require(isConsent && answer.body.includes(login), 'no consent page of this user', answer);
  return hiddenFields(answer, '/consent');
}

function allowRequest({ cookie }, fields) {
  return post('/consent', form({ ...fields, decision: 'allow' }), {
    cookie,
    'sec-fetch-site': 'same-origin',
  });
}

/** @returns the code */
async function allow(connection, { redirectUri }, request) {
  const location = locationOf(await connection.send(request), 302);
  const [, code] = location.split(`${redirectUri}?code=`);
  if (code === undefined) throw new Error(`no code: ${location}`);
  return code;
}
