import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply } from 'fastify';
import { isolatesAsHtml } from '../../languages/formats.ts';
import { LANGUAGES, type Language, TEXTS } from '../../languages/languages.ts';
import { type LanguageForm, languageForm, languageOf } from '../browser/language.ts';
import { ICONS } from './icons.ts';
import { type Branding, FORM_SCRIPT } from './look.ts';
import type { Page } from './pages.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly branding: Branding;
  }
}

const FOLDER = fileURLToPath(new URL('../../../views', import.meta.url));

const eta = new Eta({ views: FOLDER, cache: true, rmWhitespace: true });
// By name, with `@`: a template that is named by its path is looked up each time.
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.eta'))) {
  eta.loadTemplate(`@${basename(file, '.eta')}`, readFileSync(`${FOLDER}/${file}`, 'utf8'));
}

export function showPage(reply: FastifyReply, page: Page, status = reply.statusCode): FastifyReply {
  const { request, server } = reply;
  const language = languageOf(request);
  return reply
    .code(status)
    .headers(pageHeaders(page, language, server.branding))
    .send(bytesOf(page, language, server.branding, languageForm(request, status)));
}

/** @param form for another language */
export function renderPage(page: Page, language: Language, branding: Branding, form: LanguageForm): string {
  return eta.render(`@${page.name}`, {
    ...page,
    texts: TEXTS[language],
    html,
    icons: ICONS,
    style: branding.style.path,
    documentHead: branding.documentHead[language],
    language,
    languages: OWN_NAMES,
    languageForm: form,
    script: asksForPassword(page) ? FORM_SCRIPT.path : null,
  });
}

/** Stands for a caller's own values in a page that is kept: random, so that no text has it. */
const MARK = randomUUID();
const MAX_KEPT = 64;

/** Pages for strangers differ in a reference or a token and the way back below it: the rest is rendered once and kept. */
function bytesOf(page: Page, language: Language, branding: Branding, form: LanguageForm): Buffer | string {
  const own = ownValueOf(page);
  const { back } = form.fields;
  if (own === null || back === undefined) return renderPage(page, language, branding, form);
  const forAll = { ...page, reference: MARK, formToken: MARK };
  const key = JSON.stringify([forAll, language]);
  const render = () => renderPage(forAll, language, branding, { ...form, fields: { back: MARK } });
  const pieces = branding.kept.get(key) ?? Array.from(render().split(MARK), (piece) => Buffer.from(piece));
  branding.kept.set(key, pieces);
  if (branding.kept.size > MAX_KEPT) branding.kept.clear();
  const values = [own, back, ''].map((value) => Buffer.from(value));
  return Buffer.concat(pieces.flatMap((piece, at) => [piece, values[at] ?? piece]));
}

/** The value by which two such pages differ, which needs no escapes; null for any other page. */
function ownValueOf(page: Page): string | null {
  if (page.name === 'error') return page.reference;
  return page.name === 'sign-in' && page.request === null && page.login === '' ? page.formToken : null;
}

const OWN_NAMES = LANGUAGES.map((language) => ({ language, ownName: TEXTS[language].ownName }));

/** The only pages with a script, beside the field. */
function asksForPassword({ name }: Page): boolean {
  return name === 'sign-in' || name === 'payment-password' || name === 'password';
}

function leadsToApplication({ name }: Page): boolean {
  return name === 'consent' || name === 'reject';
}

/** A text as HTML: escaped, each name in `<bdi>`. @param mark makes more of `name`, such as a link */
function html(text: string, name?: string, mark?: (bdi: string) => string): string {
  const { escapeFunction } = eta.config;
  const whole = isolatesAsHtml(escapeFunction(text));
  if (mark === undefined) return whole;
  const bdi = `<bdi>${escapeFunction(name)}</bdi>`;
  return whole.replaceAll(bdi, () => mark(bdi));
}

/** Against framing, caching, and leaks of the URL. */
export function pageHeaders(page: Page, language: Language, branding: Branding): Record<string, string> {
  const policy = asksForPassword(page) ? `${branding.policy}; ${branding.scriptPolicy}` : branding.policy;
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
