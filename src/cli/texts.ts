import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readOfferedLanguages } from '../config/config.ts';
import { filesIn } from '../config/ownWords.ts';
import { markLanguages } from '../languages/foreign.ts';
import { isBuiltIn, readTextFiles } from '../languages/languages.ts';
import { withPluralCategories } from '../languages/messages.ts';
import { isKnownLanguage } from '../languages/texts.ts';
import { OperatorError } from '../rules/common/error.ts';
import { FileError } from '../rules/common/operatorFile.ts';
import type { Arguments, Options } from './commands.ts';
import type { Shell } from './shell.ts';

/** At most a few lines: --json has all. */
const MAX_NAMES = 20;

/** `assent texts check <folder>`: every fault that would stop the server, or how much of each language is translated. */
export async function checkTexts(shell: Shell, _options: Options, [folder = '']: Arguments): Promise<void> {
  try {
    const languages = [...readTextFiles(filesIn(resolve(folder)))].map(([tag, { messages }]) => {
      const inEnglish = [...messages.values()].filter(({ isFallback }) => isFallback);
      return { tag, texts: messages.size, inEnglish: inEnglish.map(({ names }) => names.join('.')) };
    });
    const lines = languages.map(({ tag, texts: all, inEnglish }) => {
      const { length } = inEnglish;
      if (length === 0) return `${tag}: complete`;
      const names = inEnglish.slice(0, MAX_NAMES).join(', ');
      return `${tag}: ${length} of ${all} texts are in English: ${names}${length > MAX_NAMES ? ' …' : ''}`;
    });
    const documents = languages.map(({ inEnglish, ...one }) => ({ ...one, in_english: inEnglish }));
    shell.print({ languages: documents, faults: [] }, lines.join('\n'));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    shell.exitCode = 1;
    const faults = error.problems.map((problem) => `${folder}: ${problem}`);
    shell.print({ languages: [], faults }, faults.join('\n'));
  }
}

const ENGLISH = new URL('../../views/texts/en.json', import.meta.url);

/** `assent texts new <tag>`: writes a file with the English texts, to translate. */
export async function beginTexts(
  shell: Shell,
  _options: Options,
  [tag = '', folder = '.']: Arguments,
): Promise<void> {
  if (!isKnownLanguage(tag) || isBuiltIn(tag))
    throw new OperatorError(
      'usage',
      `${tag} is not the tag, such as pt-BR, of a language that is not built in`,
    );
  const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  const adapted = (one: unknown): unknown => {
    if (typeof one === 'string') return withPluralCategories(one, categories);
    const entries = Object.entries(Object(one)).map(([name, text]) => [
      name,
      name.startsWith('@') ? text : adapted(text),
    ]);
    return Object.fromEntries(entries);
  };
  const english = adapted(JSON.parse(readFileSync(ENGLISH, 'utf8'))) as object;
  const ownName = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  const file = join(resolve(folder), `${tag}.json`);
  try {
    mkdirSync(resolve(folder), { recursive: true });
    const texts = {
      '@fallback': 'Texts that are missing, or still in English.',
      fallback: 'en',
      ...english,
      ownName,
    };
    writeFileSync(file, `${JSON.stringify(texts, null, 2)}\n`, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it exists, and is not overwritten' : code;
    throw new OperatorError('state', `can’t write ${file}: ${why}`);
  }
  shell.print({ file }, `wrote ${file}: translate its texts, then run assent texts check ${folder}`);
}

/** `assent texts proxy`: the page with which a proxy answers 429, in each language. */
export async function showProxyPage(shell: Shell): Promise<void> {
  const { all } = readOfferedLanguages(shell.streams.env);
  const languages = all.map(({ tag, texts: { tooManyRequests, formats } }) => ({
    ...tooManyRequests,
    attributes: `lang="${tag}" dir="${formats.direction}"`,
  }));
  const head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">';
  const lines = [
    `<!doctype html><html ${languages[0]?.attributes}><head>${head}<title>${languages[0]?.title}</title></head><body>`,
    ...languages.map(({ attributes, text }) => `<p ${attributes}>${text}</p>`),
    '</body></html>',
  ];
  const html = markLanguages(lines.join('\n'));
  shell.print({ html }, html);
}
