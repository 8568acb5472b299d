import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply } from 'fastify';
import { isolatesAsHtml } from '../../languages/formats.ts';
import { LANGUAGES, type Language, TEXTS } from '../../languages/languages.ts';
import { ICONS } from './icons.ts';
import { type LanguageForm, languageForm, languageOf } from './language.ts';
import { FORM_SCRIPT, type Look } from './look.ts';
import type { Page } from './pages.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly look: Look;
  }
}

const FOLDER = fileURLToPath(new URL('../../../views', import.meta.url));

const eta = new Eta({ views: FOLDER, cache: true, rmWhitespace: true });
// By name, with `@`: a template that is named by its path is looked up each time.
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.eta'))) {
  eta.loadTemplate(`@${basename(file, '.eta')}`, readFileSync(`${FOLDER}/${file}`, 'utf8'));
}

/** Answers with a page in the language of its reader, and the headers that belong to it. */
export function showPage(reply: FastifyReply, page: Page, status = reply.statusCode): FastifyReply {
  const { request, server } = reply;
  const language = languageOf(request);
  return reply
    .code(status)
    .headers(pageHeaders(page, language, server.look))
    .send(bytesOf(page, language, server.look, languageForm(request, status)));
}

/** A page as text: of its fields, all texts of its language, and what the layout needs. @param form for another language */
export function renderPage(page: Page, language: Language, look: Look, form: LanguageForm): string {
  return eta.render(`@${page.name}`, {
    ...page,
    texts: TEXTS[language],
    html,
    icons: ICONS,
    style: look.style,
    head: look.head[language],
    language,
    languages: OWN_NAMES,
    languageForm: form,
    script: asksForPassword(page) ? FORM_SCRIPT.path : null,
  });
}

/** Stands for a caller's own values in a page that is kept: random, so that no text has it. */
const MARK = randomUUID();
const MAX_KEPT = 64;

/**
 * A page as bytes. One that a stranger gets is the same for all but for a reference or a token and, below it, the way back: the
 * rest is rendered once, and kept under all that went into it.
 */
function bytesOf(page: Page, language: Language, look: Look, form: LanguageForm): Buffer | string {
  const own = ownValueOf(page);
  const { back } = form.fields;
  if (own === null || back === undefined) return renderPage(page, language, look, form);
  const forAll = { ...page, reference: MARK, formToken: MARK };
  const key = JSON.stringify([forAll, language]);
  const render = () => renderPage(forAll, language, look, { ...form, fields: { back: MARK } });
  const pieces = look.kept.get(key) ?? Array.from(render().split(MARK), (piece) => Buffer.from(piece));
  look.kept.set(key, pieces);
  if (look.kept.size > MAX_KEPT) look.kept.clear();
  const values = [own, back, ''].map((value) => Buffer.from(value));
  return Buffer.concat(pieces.flatMap((piece, at) => [piece, values[at] ?? piece]));
}

/** The value by which two such pages differ, which needs no escapes; null for a page with more of a person's own. */
function ownValueOf(page: Page): string | null {
  if (page.name === 'error') return page.reference;
  return page.name === 'sign-in' && page.request === null && page.login === '' ? page.formToken : null;
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
