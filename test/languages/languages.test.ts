import { expect, it } from 'vitest';
import { isolated } from '../../src/languages/formats.ts';
import { preferredLanguage } from '../../src/languages/languages.ts';

it.each([
  [undefined, 'en'],
  ['ru-KZ', 'ru'],
  ['RU-ru', 'ru'],
  ['en-US,en;q=0.9,ru;q=0.8', 'en'],
  ['de-DE,de;q=0.9,ru;q=0.5,en;q=0.4', 'ru'],
  ['ru;q=0', 'en'],
  ['constructor,__proto__;q=0.9', 'en'],
  ['ru;q=x,;;,=', 'en'],
  [`${'x,'.repeat(10_000)}ru`, 'en'],
])('Accept-Language %j leads to %s', (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});

it('a sentence isolates the text direction of a name once, whatever the name contains', () => {
  expect(isolated('a\u2069b\u2068')).toBe('\u2068ab\u2069');
});
