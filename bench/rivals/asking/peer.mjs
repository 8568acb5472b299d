import { form } from '../../load/message.mjs';
import { askedWithFields } from './adapter.mjs';

const path = (/** @type {string} */ query) => `/auth?${query}&prompt=consent`;

/** node-oidc-provider as `bench/peer/` sets it up: request → interaction with its page → confirmation → back → application. @type {import('./adapter.mjs').Adapter} */
export const peer = {
  authorizePath: '/auth',
  tokenPath: '/token',
  introspection: askedWithFields('/token/introspection'),

  async signIn(browser, query, login) {
    const interaction = await browser.follow(path(query));
    await browser.page(interaction);
    const back = await browser.send(`${interaction}/login`, form({ login }));
    await confirm(browser, await browser.follow(back));
  },

  async authorize(browser, query) {
    const interaction = await browser.follow(path(query));
    await browser.page(interaction);
    return confirm(browser, interaction);
  },
};

/** @param {import('./adapter.mjs').Browser} browser @param {string} interaction */
async function confirm(browser, interaction) {
  return browser.follow(await browser.send(`${interaction}/confirm`, ''));
}
