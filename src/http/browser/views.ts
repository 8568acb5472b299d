import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { isolatesAsHtml } from '../../languages/formats.ts';
import { LANGUAGES, type Language, TEXTS } from '../../languages/languages.ts';
import { ICONS } from './icons.ts';
import { type LanguageForm, languageForm, languageOf } from './language.ts';
import { FORM_SCRIPT, type Look, lookOf } from './look.ts';
import type { Page } from './pages.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly look: Look;
  }
}

const FOLDER = fileURLToPath(new URL('../../../views', import.meta.url));

const eta = new Eta({ views: FOLDER, cache: true, rmWhitespace: true });
// Templates include each other by name, with `@`: an include by path is looked up each time.
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.eta'))) {
  eta.loadTemplate(`@${basename(file, '.eta')}`, readFileSync(`${FOLDER}/${file}`, 'utf8'));
}

/** Gives replies the templates of `views/`, in the look of the service. */
export async function addViews(app: FastifyInstance, context: Context): Promise<void> {
  app.decorate('look', lookOf(context));
  await app.register(view, { engine: { eta }, root: FOLDER, production: true });
}

/** Answers with a page in the language of its reader, and the headers that belong to it. */
export function showPage(reply: FastifyReply, page: Page, status = reply.statusCode): FastifyReply {
  const { request, server } = reply;
  const language = languageOf(request);
  return reply
    .code(status)
    .headers(pageHeaders(page, language, server.look))
    .view(page.name, dataOf(page, language, server.look, languageForm(request, status)));
}

/** A page as text, for responses that Fastify does not send. @param form the page's form for another language */
export function renderPage(page: Page, language: Language, look: Look, form: LanguageForm): string {
  return eta.render(page.name, dataOf(page, language, look, form));
}

/** What templates know: the fields of their page, all texts of its language, and what the layout needs. */
function dataOf(page: Page, language: Language, { style, head }: Look, form: LanguageForm) {
  return {
    ...page,
    texts: TEXTS[language],
    html,
    icons: ICONS,
    style,
    head: head[language],
    language,
    languages: OWN_NAMES,
    languageForm: form,
    script: asksForPassword(page) ? FORM_SCRIPT.path : null,
  };
}

const OWN_NAMES = LANGUAGES.map((language) => ({ language, ownName: TEXTS[language].ownName }));

/** Whether the page has the script beside a field for a password; every other page has none. */
function asksForPassword({ name }: Page): boolean {
  return name === 'sign-in' || name === 'payment-password' || name === 'password';
}

/** Whether its form ends at the application. */
function leadsToApplication({ name }: Page): boolean {
  return name === 'consent' || name === 'reject';
}

/**
 * A text with names in it as HTML: escaped, each name in `<bdi>`.
 *
 * @param name one of them that is more than a name @param mark makes HTML of it, such as a link
 */
function html(text: string, name?: string, mark?: (bdi: string) => string): string {
  const { escapeFunction } = eta.config;
  const whole = isolatesAsHtml(escapeFunction(text));
  if (mark === undefined) return whole;
  const bdi = `<bdi>${escapeFunction(name)}</bdi>`;
  return whole.replaceAll(bdi, () => mark(bdi));
}

/** The headers of a page: against framing, caching, and leaks of its URL. */
export function pageHeaders(page: Page, language: Language, look: Look): Record<string, string> {
  const policy = asksForPassword(page) ? `${look.policy}; ${look.scriptPolicy}` : look.policy;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'cache-control': 'no-store',
    // Browsers apply form-action to the redirect after a post too: it would block the way back to the application. The other
    // pages post to ourselves only.
    'content-security-policy': leadsToApplication(page) ? policy : `${policy}; form-action 'self'`,
    // With no-referrer our own forms would be posted with `Origin: null`.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}
