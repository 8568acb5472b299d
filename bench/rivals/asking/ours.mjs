import { form, formTo, require } from '../../load/message.mjs';
import { PASSWORD } from '../../people.mjs';
import { askedWithBasic } from './adapter.mjs';

const OWN = { 'sec-fetch-site': 'same-origin' };

/** Assent: the authorization endpoint shows consent, whose form leads to the application. @type {import('./adapter.mjs').Adapter} */
export const ours = {
  authorizePath: '/oauth/authorize',
  tokenPath: '/oauth/token',
  introspection: askedWithBasic('/oauth/introspect'),
  /** A newer authorization annuls an earlier one of the same user, application and instance. */
  apart: (query, n) => `${query}&${form({ instance_name: `instance ${n}` })}`,

  async signIn(browser, query, login) {
    const page = await browser.page(`/oauth/authorize?${query}`);
    await browser.send(
      '/oauth/sign-in',
      form({ ...formTo(page, '/sign-in').fields, login, password: PASSWORD }),
      OWN,
    );
  },

  async authorize(browser, query, login) {
    const page = await browser.page(`/oauth/authorize?${query}`, { 'sec-fetch-site': 'cross-site' });
    const isConsent = page.body.includes('data-page="consent"') && page.body.includes(login);
    require(isConsent, 'no consent page of this user', page);
    return browser.send(
      '/oauth/consent',
      form({ ...formTo(page, '/consent').fields, decision: 'allow' }),
      OWN,
    );
  },
};
