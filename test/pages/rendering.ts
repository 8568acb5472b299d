import fastify from 'fastify';
import { ACCOUNT_PAGE } from '../../src/http/pages/account/accountPage.ts';
import { APPROVAL_PAGE, HISTORY_PAGE } from '../../src/http/pages/account/historyPage.ts';
import { PASSWORD_PAGE } from '../../src/http/pages/account/passwordPage.ts';
import { SECURITY_PAGE } from '../../src/http/pages/account/securityPage.ts';
import { STOP_PAGE } from '../../src/http/pages/account/stopPage.ts';
import { CONFIRM_PAGE } from '../../src/http/pages/confirmPage.ts';
import { CONSENT_PAGE } from '../../src/http/pages/consentPage.ts';
import { ERROR_PAGE } from '../../src/http/pages/errorPage.ts';
import type { Branding } from '../../src/http/pages/look.ts';
import { NOTICE_PAGE } from '../../src/http/pages/noticePage.ts';
import type { Page as PageOf } from '../../src/http/pages/page.ts';
import { RECEIPT_PAGE } from '../../src/http/pages/receiptPage.ts';
import { SIGN_IN_PAGE } from '../../src/http/pages/signInPage.ts';
import { addViews, dataFor, pageHeaders, renderHtml } from '../../src/http/pages/views.ts';
import { markLanguages } from '../../src/languages/foreign.ts';
import { languageOf, type Tag } from '../support/languages.ts';

// Pages without a server around them.

const PAGES = {
  'sign-in': SIGN_IN_PAGE,
  consent: CONSENT_PAGE,
  confirm: CONFIRM_PAGE,
  receipt: RECEIPT_PAGE,
  error: ERROR_PAGE,
  notice: NOTICE_PAGE,
  account: ACCOUNT_PAGE,
  history: HISTORY_PAGE,
  approval: APPROVAL_PAGE,
  security: SECURITY_PAGE,
  stop: STOP_PAGE,
  password: PASSWORD_PAGE,
};

type Pages = typeof PAGES;
type FieldsOf<Kind> = Kind extends PageOf<infer Fields> ? Fields : never;

/** A page by the name of its template, with its fields; without a name any of them. */
export type Page<Name extends keyof Pages = keyof Pages> = {
  [Each in Name]: { readonly name: Each } & FieldsOf<Pages[Each]>;
}[Name];

const app = fastify();
await addViews(app);

export const ownValuesOf = ({ name }: Page): readonly string[] => PAGES[name].ownValues ?? [];

export async function renderPage(page: Page, language: Tag, branding: Branding, wayBack: string) {
  const data = dataFor(PAGES[page.name], page, languageOf(language), branding, wayBack);
  return markLanguages(await app.view(`@${page.name}`, data));
}

/** A page as it is sent, from the pieces of `branding` if they are there. */
export const renderShared = async (page: Page, language: Tag, branding: Branding, wayBack: string) =>
  renderHtml(app, PAGES[page.name], page, languageOf(language), branding, wayBack);

export const headersOf = (page: Page, language: Tag, branding: Branding) =>
  pageHeaders(PAGES[page.name], page, languageOf(language), branding);
