import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { FastifyReply } from 'fastify';
import { inSentence, isolatesAsHtml, withoutIsolates } from '../../languages/formats.ts';
import { LANGUAGES, type Language, TEXTS } from '../../languages/languages.ts';
import { languageOf, pageAddress } from '../browser/language.ts';
import { type Branding, FORM_SCRIPT, ICONS, POLICY } from './look.ts';
import type { Page } from './pages.ts';

const FOLDER = fileURLToPath(new URL('../../../views', import.meta.url));

const eta = new Eta({ views: FOLDER, cache: true, rmWhitespace: true });
// By name, with `@`: a template named by path is looked up each time.
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.eta')))
  eta.loadTemplate(`@${basename(file, '.eta')}`, readFileSync(`${FOLDER}/${file}`, 'utf8'));

export function showPage(reply: FastifyReply, page: Page, status = reply.statusCode): FastifyReply {
  const { request, server } = reply;
  const language = languageOf(request);
  const wayBack = Buffer.from(pageAddress(request)).toString('base64url'); // error pages never repeat input
  return reply
    .code(status)
    .headers(pageHeaders(page, language, server.branding))
    .send(pageText(page, language, server.branding, wayBack));
}

/** @param wayBack for the form of another language, empty for none */
export function renderPage(page: Page, language: Language, branding: Branding, wayBack: string): string {
  return eta.render(`@${page.name}`, {
    ...page,
    texts: TEXTS[language],
    html,
    inSentence,
    withoutIsolates,
    icons: ICONS,
    style: branding.style.path,
    documentHead: branding.documentHead[language],
    language,
    languages: OWN_NAMES,
    wayBack,
    script: asksForPassword(page) ? FORM_SCRIPT.path : null,
  });
}

// Rendering is expensive, so pages with equal texts share it: rendered with marks in place of these values of one user, kept in
// pieces, and joined. A template may only show such a value, or omit it if null (docs/develop/pages.md#pieces).
const OF_USERS = ['request', 'userName', 'userLogin', 'instanceName', 'signOutToken'];
export const OWN_VALUES: Partial<Record<Page['name'], readonly string[]>> = {
  error: ['reference'],
  'sign-in': ['request', 'formToken'],
  confirm: [...OF_USERS, 'keptAs', 'decision', 'back'],
  receipt: ['onward', 'instanceName'],
  consent: [...OF_USERS, 'decisionToken', 'earlierDay', 'earlierLastUsed'],
};
/** Random: no text contains it. */
const MARK = randomUUID();
const MARKED = new RegExp(`${MARK}(\\w+);`);
/** Characters of a kept page's texts: several times most pages' length, so that all kept ones take some megabytes. */
const MAX_KEY = 16_000;

export function pageText(page: Page, language: Language, branding: Branding, wayBack: string): string {
  const names = OWN_VALUES[page.name];
  // A form shown again contains its user's input.
  const isShownAgain = 'error' in page && page.error !== null;
  if (names === undefined || isShownAgain) return renderPage(page, language, branding, wayBack);
  const own: Record<string, unknown> = { wayBack };
  const marked: Record<string, unknown> = { ...page };
  for (const name of names.filter((one) => typeof marked[one] === 'string')) {
    own[name] = marked[name];
    marked[name] = `${MARK}${name};`;
  }
  const key = JSON.stringify([marked, language]);
  if (key.length > MAX_KEY) return renderPage(page, language, branding, wayBack);
  const { kept } = branding;
  let pieces = kept.get(key);
  if (pieces === undefined) {
    const text = renderPage(marked as unknown as Page, language, branding, `${MARK}wayBack;`);
    pieces = text.split(MARKED);
    kept.set(key, pieces);
  }
  // Every second piece is a value's name; the value is escaped as in templates.
  const shown = (piece: string, at: number) =>
    at % 2 === 0 ? piece : eta.config.escapeFunction(withoutIsolates(String(own[piece])));
  return pieces.map(shown).join('');
}

const OWN_NAMES = LANGUAGES.map((language) => ({ language, ownName: TEXTS[language].ownName }));

/** The only pages with a script, for the password field. */
function asksForPassword(page: Page): boolean {
  return page.name === 'sign-in' || ('keptAs' in page && page.keptAs !== null);
}

/** A text as HTML: escaped, each name in `<bdi>`. @param mark wraps `name`, for example in a link */
function html(text: string, name?: string, mark?: (bdi: string) => string): string {
  const { escapeFunction } = eta.config;
  const whole = isolatesAsHtml(escapeFunction(text));
  if (mark === undefined) return whole;
  const bdi = `<bdi>${escapeFunction(name)}</bdi>`;
  return whole.replaceAll(bdi, () => mark(bdi));
}

/** Against framing, caching, and leaks of the URL. */
export function pageHeaders(page: Page, language: Language, branding: Branding): Record<string, string> {
  const policy = asksForPassword(page) ? `${POLICY}; ${branding.scriptPolicy}` : POLICY;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'cache-control': 'no-store',
    // Browsers also apply form-action to the redirect after a post: it would block the redirect to the application. The other
    // pages post only to us.
    'content-security-policy': page.name === 'consent' ? policy : `${policy}; form-action 'self'`,
    // With no-referrer browsers would post our own forms with `Origin: null`.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}
