import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { markLanguages } from '../../languages/foreign.ts';
import { isolatesAsHtml, withoutIsolates } from '../../languages/formats.ts';
import type { Language } from '../../languages/languages.ts';
import { encodeReturnPath, languageOf, returnPathOf } from '../browser/language.ts';
import { type Branding, CONTENT_SECURITY_POLICY, FORM_SCRIPT, ICONS } from './look.ts';
import type { Page, PageTemplate } from './page.ts';

const FOLDER = fileURLToPath(new URL('../../../views', import.meta.url));

const eta = new Eta({ views: FOLDER, cache: true, rmWhitespace: true });
// By name, with `@`: a template named by path is looked up each time.
for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.eta')))
  eta.loadTemplate(`@${file}`, readFileSync(`${FOLDER}/${file}`, 'utf8'));

/** Lets the server render `views/`. */
export async function addViews(app: FastifyInstance): Promise<void> {
  app.decorateReply('locals'); // no page has any: without this line each request would get a hook
  const defaultContext = { html, withoutIsolates, icons: ICONS };
  await app.register(view, { engine: { eta }, root: FOLDER, production: true, defaultContext });
}

export function showPage<Fields extends object>(
  reply: FastifyReply,
  page: Page<Fields>,
  fields: NoInfer<Fields>,
  status = reply.statusCode,
): FastifyReply {
  const { request, server } = reply;
  const { branding } = server;
  const language = languageOf(request);
  const wayBack = encodeReturnPath(returnPathOf(request));
  reply.code(status).headers(pageHeaders(page, fields, language, branding));
  const text = renderHtml(server, page, fields, language, branding, wayBack);
  if (typeof text === 'string') return reply.send(text);
  const send = (textOrError: string | Error) => reply.send(textOrError);
  text.then(send, send);
  return reply;
}

/** A page as HTML: at once from pieces, or rendered. @param wayBack for the form of another language, empty for none */
export function renderHtml(
  app: Pick<FastifyInstance, 'view'>,
  page: PageTemplate,
  fields: object,
  language: Language,
  branding: Branding,
  wayBack: string,
): string | Promise<string> {
  const { key, marked, own } = withMarks(page, fields, language, wayBack);
  const render = async (data: object) => markLanguages(await app.view(`@${page.name}`, data));
  if (key === null) return render(dataFor(page, fields, language, branding, wayBack));
  const pieces = branding.pieces.get(key);
  if (pieces !== undefined) return joined(pieces, own);
  const data = dataFor(page, marked, language, branding, `${MARK}wayBack;`);
  return render(data).then((text) => {
    branding.pieces.set(key, text.split(MARKED));
    return joined(text.split(MARKED), own);
  });
}

/** The data of a page's template. */
export function dataFor(
  page: PageTemplate,
  fields: object,
  language: Language,
  branding: Branding,
  wayBack: string,
) {
  return {
    ...fields,
    name: page.name,
    texts: language.texts,
    style: branding.style.path,
    documentHead: branding.documentHeads.get(language.tag),
    language: language.tag,
    direction: language.texts.formats.direction,
    wayBack,
    script: page.asksForPassword?.(fields) ? FORM_SCRIPT.path : null,
  };
}

// Rendering is expensive, so pages with equal texts share it: rendered with marks in place of their `ownValues`, kept in pieces,
// and joined (docs/develop/pages.md#pieces).
/** Random: no text contains it. */
const MARK = randomUUID();
const MARKED = new RegExp(`${MARK}(\\w+);`);
/** Characters of a kept page's texts: several times most pages' length, so that all kept ones take some megabytes. */
const MAX_KEY = 16_000;

/** A page with marks for its user's own values. `key`: of all pages with the same texts; null if it is its user's alone. */
function withMarks(
  { name: page, ownValues }: PageTemplate,
  fields: object,
  language: Language,
  wayBack: string,
) {
  const own: Record<string, unknown> = { wayBack };
  const marked: { [name: string]: unknown } = { ...fields };
  for (const name of ownValues?.filter((one) => typeof marked[one] === 'string') ?? []) {
    own[name] = marked[name];
    marked[name] = `${MARK}${name};`;
  }
  // A form shown again contains its user's input.
  const isShared = ownValues !== undefined && !('error' in fields && fields.error !== null);
  const texts = isShared ? JSON.stringify([page, marked, language.tag]) : '';
  const key = isShared && texts.length <= MAX_KEY ? texts : null;
  return { key, marked, own };
}

/** Every second piece is a value's name; the value is escaped as in templates. */
function joined(pieces: readonly string[], own: Readonly<Record<string, unknown>>): string {
  const shown = (piece: string, at: number) =>
    at % 2 === 0 ? piece : eta.config.escapeFunction(withoutIsolates(String(own[piece])));
  return pieces.map(shown).join('');
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
export function pageHeaders(
  page: PageTemplate,
  fields: object,
  language: Language,
  branding: Branding,
): Record<string, string> {
  const policy = page.asksForPassword?.(fields)
    ? `${CONTENT_SECURITY_POLICY}; ${branding.scriptPolicy}`
    : CONTENT_SECURITY_POLICY;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language.tag,
    'cache-control': 'no-store',
    'content-security-policy': page.leadsToApplication ? policy : `${policy}; form-action 'self'`,
    // With no-referrer browsers would post our own forms with `Origin: null`.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}
