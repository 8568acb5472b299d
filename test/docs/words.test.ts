import { describe, expect, it } from 'vitest';
import { files, find, read } from './checkout.ts';
import { PEOPLE } from './prose.ts';

// Plain English in messages of the code and in titles of tests.

/** "There is no such user" is plain; "is no user" is not. */
const IS_NO = /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|one\b)\w+/gi;
const DIALECT = /\bsay --|\bso many\b|\basks? a right\b|\bbehind it\b/gi;
const refusedIn = (text: string) => [PEOPLE, IS_NO, DIALECT].flatMap((words) => text.match(words) ?? []);

const LITERAL = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/.source;
/** A comment, or a string or template. */
const TOKEN = new RegExp(String.raw`\/\/.*|\/\*[\s\S]*?\*\/|(${LITERAL})`, 'g');
/** Of a test, or the words of a row that a title may have. The second parenthesis follows `it.each(…)`. */
const TITLE = new RegExp(
  String.raw`(?:\b(?:describe|it|test)(?:\.\w+)*\(|\)\(|^ *\[?|\b(?:name|what|title): )\s*(${LITERAL})`,
  'gm',
);

/** Texts for users, who are people. */
const FOR_USERS = /^src\/languages\/(?:en|ru)\.ts$/;
/** A user of Unix. */
const UNIX = /"nobody"|'nobody'/g;

const sources = files.filter((file) => /^src\/.+\.[jt]s$/.test(file) && !FOR_USERS.test(file));
const tests = files.filter((file) => /^test\/.+\.ts$/.test(file));

describe('unclear words', () => {
  it.each(sources)('do not occur in the messages of %s', (file) => {
    expect(refusedIn(find(file, TOKEN).join('\n').replaceAll(UNIX, ''))).toEqual([]);
  });

  it.each(tests.filter((file) => read(file).match(TITLE)))('do not occur in the titles of %s', (file) => {
    expect(refusedIn(find(file, TITLE).join('\n').replaceAll(UNIX, ''))).toEqual([]);
  });

  it('are found, and similar plain words are not', () => {
    expect(refusedIn('is no text, nobody, say --yes, at most so many')).toHaveLength(4);
    expect(refusedIn('there is no user; is no longer read; is no one’s')).toEqual([]);
  });
});
