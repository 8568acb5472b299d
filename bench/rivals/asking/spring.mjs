import { form } from '../../load/message.mjs';
import { PASSWORD, SCOPE } from '../../people.mjs';
import { askedWithFields, formOn } from './adapter.mjs';

/** Requests for other types get 401 instead of a redirect to the sign-in. */
const PAGE = { accept: 'text/html' };
const scopes = SCOPE.split(' ').map((scope) => form({ scope }));

/** Spring Authorization Server: the authorization endpoint shows consent, whose form posts to it. @type {import('./adapter.mjs').Adapter} */
export const spring = {
  authorizePath: '/oauth2/authorize',
  tokenPath: '/oauth2/token',
  introspection: askedWithFields('/oauth2/introspect'),

  async signIn(browser, query, login) {
    await browser.follow(`/oauth2/authorize?${query}`, PAGE);
    const { action, fields } = formOn(await browser.page('/login', PAGE), /<form[^>]*action="\/login"/);
    const location = await browser.send(action, form({ ...fields, username: login, password: PASSWORD }));
    if (location.includes('error')) throw new Error(`not signed in: ${location}`);
  },

  async authorize(browser, query) {
    const page = await browser.page(`/oauth2/authorize?${query}`, PAGE);
    const { fields } = formOn(page, /<form[^>]*action="\/oauth2\/authorize"/);
    return browser.send('/oauth2/authorize', [form(fields), ...scopes].join('&'), PAGE);
  },
};
