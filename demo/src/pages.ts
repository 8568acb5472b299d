import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { commandFor, programsFor } from './programs.ts';
import type { DemoSettings, Languages } from './settings.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly languages: Languages;
  }
}

const ROOT = new URL('../../', import.meta.url);
const VIEWS = fileURLToPath(new URL('demo/views', ROOT));
/** Files that pages load or link. */
const FILES: Readonly<Record<string, string>> = {
  'demo/views/style.css': 'text/css',
  'demo/views/page.js': 'text/javascript',
  'examples/oauthClient.mjs': 'text/plain',
};
const LANGUAGE_COOKIE = 'demo_language';
const YEAR_SECONDS = 365 * 24 * 60 * 60;
const PAGES = ['/', '/request', '/story'];
/** Around values of texts; code is isolated by its style. */
const ISOLATES = /[\u2068\u2069]/g;

const eta = new Eta({ views: VIEWS, cache: true });

/** Lets replies render `demo/views`; serves their style, script and choice of language. */
export async function addPages(app: FastifyInstance, settings: DemoSettings): Promise<void> {
  const { application, timeZone, languages } = settings;
  const face = { shop: 'Demo Shop', server: application.server, timeZone, languages, hasStory: false };
  const defaultContext = { ...face, words, commandFor, programsFor };
  app.decorate('languages', languages);
  await app.register(view, { engine: { eta }, root: VIEWS, production: true, defaultContext });
  for (const [file, type] of Object.entries(FILES)) {
    const content = readFileSync(new URL(file, ROOT));
    app.get(`/${file}`, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(content));
  }
  app.post<{ Body: URLSearchParams }>('/language', async ({ body }, reply) => {
    const options = { path: '/', httpOnly: true, sameSite: 'lax', maxAge: YEAR_SECONDS } as const;
    reply.setCookie(LANGUAGE_COOKIE, body.get('language') ?? '', options);
    return reply.redirect(PAGES.find((page) => page === body.get('back')) ?? '/', 303);
  });
}

/** Answers with a page in the browser's language or the one chosen here, which the server doesn't learn. */
export function show(
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
  data: object = {},
): FastifyReply {
  const { languages } = request.server;
  const tags = [...languages.keys()];
  const chosen = request.cookies[LANGUAGE_COOKIE] ?? new Negotiator(request).language(tags);
  const language = tags.find((tag) => tag === chosen) ?? 'en';
  const texts = languages.get(language);
  const back = PAGES.find((path) => path === request.url) ?? '/';
  return reply.header('content-language', language).view(page, { page, texts, language, back, ...data });
}

/** A text as escaped HTML: `names of the protocol` become code, with a link to a file that is served. */
function words(text: string): string {
  const escaped = eta.config.escapeFunction(text).replaceAll(ISOLATES, '');
  return escaped.replaceAll(/`([^`]+)`/g, (_, name: string) => {
    const code = `<code translate="no">${name}</code>`;
    return name in FILES ? `<a href="/${name}">${code}</a>` : code;
  });
}
