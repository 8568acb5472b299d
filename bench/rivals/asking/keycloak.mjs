import { headerOf } from '../../load/answer.mjs';
import { form, redirectOf, require } from '../../load/message.mjs';
import { PASSWORD, REDIRECT_URI } from '../../people.mjs';
import { askedWithFields, formOn } from './adapter.mjs';

/** @typedef {import('./adapter.mjs').Browser} Browser @typedef {import('./adapter.mjs').Answer} Answer */

const REALM = '/realms/bench/protocol/openid-connect';
/** Keycloak remembers consent: this requests it anyway. */
const path = (/** @type {string} */ query) => `${REALM}/auth?${query}&prompt=consent`;
const MAX_REDIRECTS = 5;

/** Keycloak: the authorization endpoint leads to consent, whose form leads to the application. @type {import('./adapter.mjs').Adapter} */
export const keycloak = {
  authorizePath: `${REALM}/auth`,
  tokenPath: `${REALM}/token`,
  introspection: askedWithFields(`${REALM}/token/introspect`),

  async signIn(browser, query, login) {
    const { action, fields } = formOn(await browser.page(path(query)), /<form[^>]*id="kc-form-login"/);
    const signedIn = await browser.post(
      action,
      form({ ...fields, username: login, password: PASSWORD, credentialId: '' }),
    );
    await consent(browser, signedIn);
  },

  async authorize(browser, query) {
    return consent(browser, await browser.get(path(query)));
  },
};

/** @param {Browser} browser @param {Answer} answer leading to the consent page */
async function consent(browser, answer) {
  const page = await pageAfter(browser, answer);
  require(page.body.includes('kc-oauth'), 'no consent page', page);
  const { action, fields } = formOn(page, /<form[^>]*login-actions\/consent/);
  return browser.send(action, form({ ...fields, accept: 'Yes' }));
}

/** @param {Browser} browser @param {Answer} answer */
async function pageAfter(browser, answer) {
  let page = answer;
  for (let hops = 0; page.status >= 300 && page.status < 400 && hops < MAX_REDIRECTS; hops += 1) {
    const location = headerOf(page.head, 'location') ?? '';
    require(!location.startsWith(REDIRECT_URI), 'consent was not asked', page);
    page = await browser.get(redirectOf(page));
  }
  return page;
}
