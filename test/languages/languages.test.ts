import { describe, expect, it } from 'vitest';
import { isolated } from '../../src/languages/formats.ts';
import {
  BUILT_IN_LANGUAGES,
  languagesOf,
  readTextFiles,
  TEXTS,
  textIn,
} from '../../src/languages/languages.ts';

/** Languages of which only the tags matter. */
const offering = (...tags: string[]) =>
  languagesOf(
    readTextFiles(new Map(tags.map((tag) => [tag, JSON.stringify({ fallback: 'en', ownName: tag })]))),
    tags,
  );

describe('the language of a browser', () => {
  it.each([
    ['', 'en'],
    ['ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7', 'ru'],
    ['ru-KZ', 'ru'],
    ['RU-ru', 'ru'],
    ['en-US,en;q=0.9,ru;q=0.8', 'en'],
    ['de-DE,de;q=0.9,ru;q=0.5,en;q=0.4', 'ru'],
    ['ru;q=0', 'en'],
    ['constructor,__proto__;q=0.9', 'en'],
    ['ru;q=x,;;,=', 'en'],
    [`${'x,'.repeat(10_000)}ru`, 'en'],
  ])('that sends %j is %s', (header, tag) => {
    expect(BUILT_IN_LANGUAGES().preferred(header).tag).toBe(tag);
  });

  it.each([
    ['pt-BR', 'pt-BR'],
    ['pt-PT', 'pt'],
    ['pt-AO,pt-BR;q=0.9', 'pt'],
    ['zh-TW', 'zh-Hant'],
    ['zh', 'tr'],
    ['iw', 'he'],
    ['sr-Latn', 'sr-Latn'],
    ['sr', 'tr'],
  ])('is the nearest by tag and script: %s is read as %s', (header, tag) => {
    const languages = offering('tr', 'pt', 'pt-BR', 'zh-Hant', 'he', 'sr-Latn');
    expect(languages.preferred(header).tag).toBe(tag);
  });

  it('is another region’s rather than the default', () => {
    expect(offering('en', 'pt-BR').preferred('pt-PT').tag).toBe('pt-BR');
  });
});

it('thousands of wishes cost no more than ten', () => {
  const languages = offering('en', 'pt');
  const many = Array.from({ length: 4_000 }, (_, at) => `qaa-${String(at % 1_000).padStart(3, '0')}`);
  expect(languages.nearest([...many.slice(0, 9), 'pt'])?.tag).toBe('pt');
  expect(languages.nearest([...many, 'pt'])).toBeUndefined();
});

describe('an operator’s text', () => {
  const language = { tag: 'pt-BR', defaultTag: 'ru' };
  const shownOf = (text: Readonly<Record<string, string>>) =>
    textIn(text, language).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '|');

  it.each([
    ['of all languages', { '': 'Pay' }, 'Pay'],
    ['of this language', { en: 'Pay', 'pt-BR': 'Pague' }, 'Pague'],
    ['of a near one', { en: 'Pay', pt: 'Pague' }, 'Pague'],
    ['of the default one, marked', { en: 'Pay', ru: 'Платить' }, '|ru;Платить|;'],
    ['of any other one, marked', { en: 'Pay' }, '|en;Pay|;'],
  ])('is that %s', (_which, text, shown) => {
    expect(shownOf(text)).toBe(shown);
  });
});

it('a sentence isolates the text direction of a name once, whatever the name contains', () => {
  expect(isolated('a\u2069b\u2068')).toBe('\u2068ab\u2069');
});

it('a region has the texts of its language where it has none of its own', () => {
  const files = new Map([
    ['en', JSON.stringify({ signIn: { button: 'Log in' } })],
    ['en-US', JSON.stringify({ signIn: { password: 'Passcode' } })],
  ]);
  const texts = languagesOf(readTextFiles(files), ['en-US']).find('en-US')?.texts;
  expect([texts?.signIn.button, texts?.signIn.password]).toEqual(['Log in', 'Passcode']);
});

it('a built-in language may have single texts of the operator’s', () => {
  const own = JSON.stringify({ signIn: { button: 'Log in' } });
  const texts = languagesOf(readTextFiles(new Map([['en', own]])), ['en', 'ru']).find('en')?.texts;
  expect(texts?.signIn.button).toBe('Log in');
  expect(texts?.signIn.login).toBe(TEXTS.en.signIn.login);
});
