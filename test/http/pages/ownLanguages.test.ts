import { expect, it, vi } from 'vitest';
import { textDigestOf } from '../../../src/flows/common/textDigest.ts';
import { parseCatalogue } from '../../../src/languages/catalogue.ts';
import { inLanguage as inLanguageOf } from '../../../src/languages/foreign.ts';
import { languagesOf, readTextFiles } from '../../../src/languages/languages.ts';
import { BUILT_IN_BRAND } from '../../../src/rules/face/brand.ts';
import { parseTargetNames } from '../../../src/rules/face/directory.ts';
import type { AuthorizationRequest } from '../../../src/rules/request/authorizationRequest.ts';
import { linkTo, reachConsent, requestOf } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { languageOf, WITH_PSEUDO } from '../../support/languages.ts';
import { useServer } from '../../support/server.ts';

// A server with languages of its operator's: `ar` from right to left, and `de`.

const server = await useServer({
  languages: WITH_PSEUDO,
  brand: { ...BUILT_IN_BRAND, name: { en: 'Wallet', ar: 'محفظة' } },
  directory: parseTargetNames(JSON.stringify({ shops: { 42: { ru: 'Книги', ar: 'כתבים' } } })),
  offer: { catalogue: parseCatalogue(JSON.stringify({ 'payment.to-pattern': { ru: 'Платить {target}' } })) },
});
const client = await server.createClient({ name: 'חנות' });
const user = await server.createUser();
const inLanguage = (accepted: string) => new Agent(server.baseUrl, { 'accept-language': accepted });
const htmlOf = (body: string) => /<html [^>]*>/.exec(body)?.[0];

it.each([
  ['ar-EG', '<html lang="ar" dir="rtl">', 'محفظة'],
  ['de-AT', '<html lang="de">', '<span lang="en" dir="ltr">Wallet</span>'],
  ['pt', '<html lang="en">', 'Wallet'],
])(
  'a browser that asks for %s gets %s, and the name of the service in a language that has it',
  async (accepted, html, name) => {
    const page = await inLanguage(accepted).get(linkTo(requestOf(client)));
    expect([htmlOf(page.body), page.headers.get('content-language')]).toEqual([
      html,
      /lang="(\w+)"/.exec(html)?.[1],
    ]);
    expect(page.body).toContain(`<span>${name}</span>`);
  },
);

it('a menu has each language with its own name, and leads back', async () => {
  const browser = inLanguage('ar');
  const page = await browser.get(linkTo(requestOf(client)));
  for (const tag of ['en', 'ru', 'ar', 'de'] as const) expect(page.body).toContain(`lang="${tag}"`);
  expect(page.body).toContain(languageOf('de').texts.ownName);
  await browser.submit(page, 'language', { language: 'de' });
  expect(htmlOf((await browser.get(linkTo(requestOf(client)))).body)).toBe('<html lang="de">');
});

it('operators’ texts are marked where a page is in another language, and names are isolated', async () => {
  const request = requestOf(client, { scope: 'payment.to-pattern("42").limit(7,100)' });
  const inArabic = await reachConsent(inLanguage('ar'), request, user);
  expect(inArabic.body).toContain('<span lang="ru" dir="ltr">Платить ');
  expect(inArabic.body).toContain('<bdi>כתבים</bdi>');
  expect(inArabic.body).toContain('<bdi>חנות</bdi>');
  const inGerman = await reachConsent(inLanguage('de'), request, user);
  expect(inGerman.body).toMatch(/<bdi><span lang="(ru|ar)" dir="(ltr|rtl)">(Книги|כתבים)<\/span><\/bdi>/);
  expect(inGerman.body).toMatch(/<title>[^<]* &middot; Wallet<\/title>/);
});

it('a page with texts in English is answered by another process, whose marks are others', async () => {
  vi.resetModules();
  const elsewhere = await import('../../../src/languages/foreign.ts');
  expect(elsewhere.inLanguage('x', 'en')).not.toBe(inLanguageOf('x', 'en'));
  const other = await import('../../../src/flows/common/textDigest.ts');
  const files = new Map([['de', '{"fallback":"en","ownName":"Deutsch"}']]);
  const languages = languagesOf(readTextFiles(files), ['en', 'de']);
  const { languagesOf: languagesThere, readTextFiles: readThere } = await import(
    '../../../src/languages/languages.ts'
  );
  const context = { ...server.context, languages };
  const there = { ...server.context, languages: languagesThere(readThere(files), ['en', 'de']) };
  const request = { scope: 'payment-shop.limit(7,100)' } as AuthorizationRequest;
  expect(other.textDigestOf(there, request)).toBe(textDigestOf(context, request));
});

it('the metadata has the languages on offer', async () => {
  const { text } = await new Agent(server.baseUrl).get('/.well-known/oauth-authorization-server');
  expect(JSON.parse(text)).toMatchObject({ ui_locales_supported: ['en', 'ru', 'ar', 'de'] });
});
