import { readFileSync } from 'node:fs';
import { FileError, parseJson } from '../rules/common/operatorFile.ts';
import type { Formats } from './formats.ts';
import { parseMessage } from './messages.ts';

/** A file's texts, and the values of each by its path, for example `{client}` of `signIn.forRequest`. */
interface TextFile {
  readonly texts: unknown;
  readonly values: ReadonlyMap<string, string>;
}

/** Reads a language's texts. @throws {FileError} as {@link parseTexts} does, each line with the file */
export function readTexts(language: string, formats: Formats, model?: TextFile): TextFile {
  const file = `views/texts/${language}.json`;
  const json = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  try {
    return parseTexts(json, formats, model);
  } catch (error) {
    throw error instanceof FileError ? new FileError(error.problems.map((one) => `${file}: ${one}`)) : error;
  }
}

/** @param model of which `json` must have each text, with its values @throws {FileError} with a line for each fault */
export function parseTexts(json: string, formats: Formats, model?: TextFile): TextFile {
  const values = new Map<string, string>();
  const faults: string[] = [];
  const read = (one: unknown, names: readonly string[]): unknown => {
    if (typeof one === 'object') {
      // A name with `@` is a comment for translators.
      const entries = Object.entries(Object(one)).filter(([name]) => !name.startsWith('@'));
      return Object.fromEntries(entries.map(([name, text]) => [name, read(text, [...names, name])]));
    }
    const path = names.join('.');
    values.set(path, model?.values.get(path) ?? '');
    try {
      const message = parseMessage(String(one), formats);
      values.set(path, message.values);
      return message.text;
    } catch (error) {
      return void faults.push(`${path} ${(error as Error).message.split('\n', 1)}`);
    }
  };
  const texts = read(parseJson(json), []);
  for (const [path, wanted] of model?.values ?? [])
    if (values.get(path) !== wanted) faults.push(`${path} must be a text with ${wanted || 'no values'}`);
  for (const path of values.keys())
    if (model?.values.has(path) === false) faults.push(`${path} is not in en.json`);
  if (faults.length > 0) throw new FileError(faults);
  return { texts, values };
}
