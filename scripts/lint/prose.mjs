import { SAMPLES } from './checkout.mjs';

// Sentences and tables of documents, and the words of messages and of titles of tests.

const MAX_WORDS = 30;

/** A cell, a list item and a heading are texts of their own. */
const BLOCK = /\n\s*\n|^\s*(?:[-*]|\d+\.) (?=\S)|\|/m;

/** A sentence ends at a full stop, question or exclamation mark before a capital letter, a digit or code. */
const END = /(?<=[.!?])["”)]?\s+(?=["“(]?[\p{Lu}\d]|code\b)/u;

/** Sentences as a reader counts them, without code blocks and comments; `code` is one word. */
function sentencesOf(markdown) {
  const prose = markdown
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '\n\n')
    .replaceAll(/^#.*$/gm, '\n$&\n')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/`[^`]+`/g, 'code')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('**', '');
  return prose
    .split(BLOCK)
    .flatMap((block) => block.split(END))
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim());
}

const countWords = (sentence) => sentence.split(' ').filter((word) => /[\p{L}\d]/u.test(word)).length;

/** A long sentence hides its subject. */
export const findLongSentences = ({ book, documents, read }) =>
  documents
    .filter((file) => book.includes(file) || /^(CONTRIBUTING|CHANGELOG)\.md$/.test(file))
    .flatMap((file) =>
      sentencesOf(read(file))
        .filter((sentence) => countWords(sentence) > MAX_WORDS)
        .map((sentence) => ({
          file,
          says: `a sentence has ${countWords(sentence)} words, more than ${MAX_WORDS}: ${sentence}`,
          isWarning: true,
        })),
    );

const cellsOf = (row) => row.replaceAll(/\\\||`[^`]*`/g, '').split('|').length;

/** The rows of a table have as many cells as its head. */
export const findUnevenTables = ({ documents, find }) =>
  documents.flatMap((file) =>
    find(file, /((?:^\|.*\|\n)+)/gm).flatMap(({ text, at }) => {
      const [head, ...rows] = text.trim().split('\n');
      return rows
        .filter((row) => cellsOf(row) !== cellsOf(head))
        .map((row) => ({
          file,
          at: at + text.indexOf(row),
          says: 'a row has more or fewer cells than its head',
        }));
    }),
  );

/** Names of people where a role is meant. */
const PEOPLE = /\b(?:nobody|somebody|whoever|everybody|anybody|for who|who guesses)\b/gi;
/** "There is no such user" is plain; "is no user" is not. */
const IS_NO = /(?<!\bthere )\b(?:is|are|was|were|be) no (?!longer\b|more\b|one\b)\w+/gi;
const DIALECT = /\bsay --|\bso many\b|\basks? a right\b|\bbehind it\b/gi;

const LITERAL = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/.source;
/** A comment, or a string or template. */
const TOKEN = new RegExp(String.raw`\/\/.*|\/\*[\s\S]*?\*\/|(${LITERAL})`, 'g');
/** Of a test, or the words of a row that a title may have. The second parenthesis follows `it.each(…)`. */
const TITLE = new RegExp(
  String.raw`(?:\b(?:describe|it|test)(?:\.\w+)*\(|\)\(|^ *\[?|\b(?:name|what|title): )\s*(${LITERAL})`,
  'gm',
);

/** Texts for users, who are people. */
const FOR_USERS = /^src\/languages\/(?:en|ru)\.\w+$/;
/** A user of Unix. */
const UNIX = /"nobody"|'nobody'/g;

/** Plain English in messages of the code and in titles of tests; roles instead of pronouns in documents. */
export function findUnclearWords({ files, book, find, read }) {
  const judge = (file, pattern, where) =>
    find(file, pattern).flatMap(({ text, at }) =>
      [PEOPLE, IS_NO, DIALECT]
        .flatMap((words) => text.replaceAll(UNIX, '').match(words) ?? [])
        .map((words) => ({ file, at, says: `unclear words in a ${where}: ${words}` })),
    );
  const sources = files.filter((file) => /^src\/.+\.[jt]s$/.test(file) && !FOR_USERS.test(file));
  const tests = files.filter((file) => /^test\/.+\.ts$/.test(file) && file !== SAMPLES);
  return [
    ...sources.flatMap((file) => judge(file, TOKEN, 'message')),
    ...tests.flatMap((file) => judge(file, TITLE, 'title')),
    ...[...book, 'CONTRIBUTING.md'].flatMap((file) =>
      [...read(file).matchAll(PEOPLE)].map(({ 0: word, index: at }) => ({
        file,
        at,
        says: `“${word}” where a role is meant`,
      })),
    ),
  ];
}
