import { describe, expect, it } from 'vitest';
import { BUILT_IN_TAGS, TEXTS } from '../../src/languages/languages.ts';
import { MIN_PASSWORD_CHARACTERS } from '../../src/rules/common/limits.ts';
import { readDemoTexts } from '../../src/trial/startTrial.ts';
import { files, read } from '../docs/checkout.ts';
import type { BuiltInTag } from '../support/languages.ts';
import { eachValue, leavesOf } from './leaves.ts';

const demoTexts = readDemoTexts();

/** Sources and templates of the demo, which refer to its texts. */
const sources = files.filter((file) => /^demo\/(src\/.+\.ts|views\/.+\.eta)$/.test(file)).map(read);
/** Groups that are read by a computed name, whose type has their names. */
const BY_TYPE = [
  ...['compose.examples', 'story.payees', 'story.sources'],
  ...['plan.lessons', 'steps', 'ways', 'parties', 'blocks', 'messages', 'reasons'],
];
/** Every other text of the demo by its path, for example `story.title`. */
const paths = leavesOf(demoTexts.get('en') ?? {})
  .map(({ path }) => path)
  .filter((path) => !path.startsWith('formats.') && path !== 'ownName')
  .filter((path) => !BY_TYPE.some((group) => path.startsWith(`${group}.`)));

describe('the texts', () => {
  it.each(BUILT_IN_TAGS)(
    'of %s put no quotation marks around inserted text that may close them',
    (language) => {
      const quoting = leavesIn(language, 'OTHER').flatMap(({ path, said }) =>
        /[“«][^”»]*OTHER/.test(said) ? [path] : [],
      );
      // These quote the service's name, which the operator chose.
      expect(quoting).toEqual(language === 'ru' ? ['layout.passwordsHereOnly', 'signIn.title'] : []);
    },
  );

  it.each(BUILT_IN_TAGS)('of %s say how many characters a password needs', (language) => {
    const { rule, problems } = TEXTS[language].security;
    for (const text of [rule, problems.too_short])
      expect(text.match(/\d+/g)).toEqual([String(MIN_PASSWORD_CHARACTERS)]);
  });

  it.each(paths)('of the demo application are all used: %s', (path) => {
    // A page takes the title and text of a group by spreading it.
    const names = path
      .replace(/\.(title|text)$/, '')
      .split('.')
      .map((name) => new RegExp(`\\b${name}\\b`));
    expect(sources.some((source) => names.every((name) => name.test(source)))).toBe(true);
  });

  it.each(files.filter((file) => file.endsWith('.eta')))('are not written in the template %s', (file) => {
    const words = read(file)
      .replaceAll(/<%[\s\S]*?%>/g, '')
      .replaceAll(/<!?[\w/][^>]*>/g, '')
      .replaceAll(/&\w+;|Assent/g, '');
    expect(words.trim()).not.toMatch(/\p{L}/u);
  });

  it.each(BUILT_IN_TAGS)(
    'of %s are trimmed and not empty, and only names are in another script',
    (language) => {
      for (const { path, said } of leavesIn(language, '…')) {
        expect(said.trim(), path).toBe(said);
        // Russian has no word before a right.
        if (path !== 'request.lead' || language !== 'ru') expect(said, path).not.toBe('');
        // Russian texts have Latin letters in names and backquotes only.
        const words = said.replaceAll(/`[^`]+`|Assent|IP|URL|UTC|cookie|Caps Lock|\{target\}/g, '');
        if (language === 'ru') expect(words, path).not.toMatch(/[A-Za-z]/);
        else expect(words, path).not.toMatch(/\p{Script=Cyrillic}/u);
      }
    },
  );
});

/** Every text with one value in all its places. */
function leavesIn(language: BuiltInTag, value: string) {
  return [TEXTS[language], demoTexts.get(language) ?? {}].flatMap((texts) =>
    leavesOf(texts)
      .filter(({ path }) => !path.startsWith('formats.'))
      .map(({ path, text }) => ({
        path,
        said: typeof text === 'function' ? String(text(eachValue(() => value))) : String(text),
      })),
  );
}
