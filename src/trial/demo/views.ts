import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isolatesAsHtml } from '../../languages/formats.ts';
import { isLanguage, LANGUAGES, type Language, preferredLanguage, TEXTS } from '../../languages/languages.ts';

const FOLDER = fileURLToPath(new URL('../../../views/demo', import.meta.url));
const SHOP = 'Demo Shop';
const LANGUAGE_COOKIE = 'demo_language';
const YEAR_SECONDS = 365 * 24 * 60 * 60;
const OWN_NAMES = LANGUAGES.map((language) => ({ language, ownName: TEXTS[language].ownName }));
const PAGES = ['/', '/request', '/story'];

const eta = new Eta({ views: FOLDER, cache: true });

/** Gives replies the templates of `views/demo`, and serves their style and script. */
export async function addViews(app: FastifyInstance): Promise<void> {
  await app.register(view, { engine: { eta }, root: FOLDER, production: true });
  for (const [file, type] of [
    ['style.css', 'text/css'],
    ['page.js', 'text/javascript'],
  ] as const) {
    const content = readFileSync(`${FOLDER}/${file}`);
    app.get(`/${file}`, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(content));
  }
  app.post<{ Body: URLSearchParams }>('/language', async ({ body }, reply) => {
    const language = body.get('language');
    const options = { path: '/', httpOnly: true, sameSite: 'lax', maxAge: YEAR_SECONDS } as const;
    if (isLanguage(language)) reply.setCookie(LANGUAGE_COOKIE, language, options);
    return reply.redirect(PAGES.find((page) => page === body.get('back')) ?? '/', 303);
  });
}

/** Answers with a page in the language of its reader. The server is told nothing of that choice. */
export function show(request: FastifyRequest, reply: FastifyReply, page: string, data: object): FastifyReply {
  const language = languageOf(request);
  const { demo, formats } = TEXTS[language];
  const back = PAGES.find((path) => path === request.url) ?? '/';
  const common = { shop: SHOP, page, demo, formats, language, languages: OWN_NAMES, back, words };
  return reply.header('content-language', language).view(page, { hasStory: false, ...common, ...data });
}

function languageOf({ cookies, headers }: FastifyRequest): Language {
  const chosen = cookies[LANGUAGE_COOKIE];
  return isLanguage(chosen) ? chosen : preferredLanguage(headers['accept-language']);
}

/** A text as HTML: escaped, `names of the protocol` in code, other names apart from the words around them. */
function words(text: string): string {
  const escaped = eta.config.escapeFunction(text);
  return isolatesAsHtml(escaped).replaceAll(/`([^`]+)`/g, '<code translate="no">$1</code>');
}
