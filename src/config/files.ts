import { BUILT_IN_CATALOGUE, parseCatalogue } from '../languages/catalogue.ts';
import { parseOperators } from '../rules/account/operatorsFile.ts';
import { BUILT_IN_BRAND } from '../rules/face/brand.ts';
import { NO_TARGET_NAMES, parseTargetNames } from '../rules/face/directory.ts';
import { ConfigError, resolveFromCheckout } from './environment.ts';
import { collectProblems, MAX_TARGET_NAMES_BYTES, readBrand, readText } from './operatorFiles.ts';
import { readLanguages } from './ownWords.ts';

type Files = Partial<
  Record<
    'CATALOGUE' | 'BRAND' | 'DIRECTORY' | 'TEXTS' | 'OPERATORS_FILE' | 'ASSENT_OPERATOR',
    string | undefined
  >
>;

/**
 * The contents of the operator's files, built in where none is given. @throws {ConfigError} with the mistakes of all
 * @param tags of the offered languages; without them their texts are not read
 */
export function readFiles(files: Files, tags?: readonly string[]) {
  const problems: string[] = [];
  const collect = <Content>(variable: keyof Files, read: () => Content) => {
    const named = [variable, ...(files[variable] === undefined ? [] : [files[variable]])].join(' ');
    const place = `docs/operate/configuration.md#${variable.toLowerCase()}`;
    // Without what JSON.parse quotes.
    const said = (problem: string) =>
      variable === 'OPERATORS_FILE' ? problem.replace(/".*"/, '…') : problem;
    return collectProblems(problems, read, (problem) => `${named}: ${said(problem)}; see ${place}.`);
  };
  const read = <Content>(variable: keyof Files, readFile: (file: string) => Content) => {
    const file = files[variable];
    return file === undefined ? undefined : collect(variable, () => readFile(resolveFromCheckout(file)));
  };
  const folder = files.TEXTS === undefined ? null : resolveFromCheckout(files.TEXTS);
  const readDirectory = (file: string) => parseTargetNames(readText(file, MAX_TARGET_NAMES_BYTES));
  const readOperators = (file: string) => parseOperators(readText(file), files.ASSENT_OPERATOR);
  const contents = {
    catalogue: read('CATALOGUE', (file) => parseCatalogue(readText(file))) ?? BUILT_IN_CATALOGUE,
    brand: read('BRAND', readBrand) ?? BUILT_IN_BRAND,
    directory: read('DIRECTORY', readDirectory) ?? NO_TARGET_NAMES,
    operators: read('OPERATORS_FILE', readOperators) ?? parseOperators('{}'),
    languages: tags && collect('TEXTS', () => readLanguages(folder, tags)),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return contents;
}
