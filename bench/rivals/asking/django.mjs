import { form } from '../../load/message.mjs';
import { PASSWORD } from '../../people.mjs';
import { askedWithBasic, formOn } from './adapter.mjs';

const SIGN_IN = '/accounts/login/';

/** django-oauth-toolkit: the authorization endpoint shows consent each time, its default; the form posts to it. @type {import('./adapter.mjs').Adapter} */
export const django = {
  authorizePath: '/o/authorize/',
  tokenPath: '/o/token/',
  introspection: askedWithBasic('/o/introspect/'),

  async signIn(browser, _query, login) {
    const { fields } = formOn(await browser.page(SIGN_IN), /<form/);
    await browser.send(SIGN_IN, form({ ...fields, username: login, password: PASSWORD }));
  },

  async authorize(browser, query) {
    const target = `/o/authorize/?${query}`;
    const { fields } = formOn(await browser.page(target), /<form/);
    return browser.send(target, form({ ...fields, allow: 'Authorize' }));
  },
};
