import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Catalogue } from '../languages/catalogue.ts';
import { isBuiltIn, type Languages, lacks, languagesOf, readTextFiles } from '../languages/languages.ts';
import { FileError, truncateMistakes } from '../rules/common/operatorFile.ts';
import type { PerLanguage } from '../rules/common/perLanguage.ts';
import type { Brand } from '../rules/face/brand.ts';
import type { TargetNames } from '../rules/face/directory.ts';
import { collectProblems, readText } from './operatorFiles.ts';

/** Several times the English texts: other languages have longer ones, and more plurals. */
const MAX_TEXTS_BYTES = 256 * 1024;

/** Contents of files such as `pt-BR.json`, by tag. @param folder absolute @throws {FileError} */
export function filesIn(folder: string): ReadonlyMap<string, string> {
  const files = namesIn(folder).filter((name) => /^[^.~].*\.json$/.test(name)); // no editor's file
  if (files.length === 0) throw new FileError(['has no file such as pt-BR.json']);
  const faults: string[] = [];
  const read = (name: string) =>
    collectProblems(
      faults,
      () => readText(join(folder, name), MAX_TEXTS_BYTES),
      (fault) => `${name} ${fault}`,
    );
  const texts = new Map(files.map((name) => [basename(name, '.json'), read(name) ?? '']));
  if (faults.length > 0) throw new FileError(faults);
  return texts;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FileError([code === 'ENOTDIR' ? 'is not a folder' : `can't be read: ${code}`]);
  }
}

/**
 * @param folder absolute; null for the built-in texts alone @param tags the first is the default
 * @throws {FileError} with at most one screen of faults
 */
export function readLanguages(folder: string | null, tags: readonly string[]): Languages {
  const files = folder === null ? new Map<string, string>() : filesIn(folder);
  const missing = tags.filter((tag) => !isBuiltIn(tag) && !files.has(tag));
  if (missing.length > 0)
    throw new FileError(missing.map((tag) => `must have ${tag}.json, since LANGUAGES has ${tag}`));
  try {
    return languagesOf(readTextFiles(files), tags);
  } catch (error) {
    throw error instanceof FileError ? new FileError(truncateMistakes(error.problems)) : error;
  }
}

/** The operator's texts that pages show in another language than their own, one line for each file. */
export function missingTexts(
  languages: Languages,
  files: { readonly brand: Brand; readonly catalogue: Catalogue; readonly directory: TargetNames },
): string[] {
  const { brand, catalogue, directory } = files;
  const rights = [...catalogue.values()].flatMap(({ text, sources }) => [
    text,
    ...Object.values(sources ?? {}),
  ]);
  const texts = {
    BRAND: [brand.name, brand.legal],
    CATALOGUE: rights,
    DIRECTORY: Object.values(directory).flatMap((names) => [...names.values()]),
  };
  return Object.entries<(PerLanguage | null)[]>(texts).flatMap(([variable, all]) => {
    const lacking = languages.all.filter(({ tag }) => all.some((text) => text !== null && lacks(text, tag)));
    const tags = lacking.map(({ tag }) => tag).join(', ');
    return tags === ''
      ? []
      : [`${variable} lacks texts in ${tags}: their pages show them in another language`];
  });
}
