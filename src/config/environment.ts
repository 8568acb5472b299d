import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Wrong values in the environment, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/** Variables that a file may hold, named by the variable with the suffix `_FILE`. */
export const FROM_FILES = ['DATABASE_URL', 'PGPASSWORD', 'SECRETS', 'METRICS_TOKEN', 'SIGN_IN_CLIENT_SECRET'];

/** The absolute path of a file; relative paths start at the checkout, not at the current directory. */
export function resolveFromCheckout(file: string): string {
  return resolve(CHECKOUT, file);
}

/** Reads variables, from their files if given so; empty ones are unset. `problems`: sentences about files. */
export function readVariables(names: readonly string[], environment: Environment) {
  const problems: string[] = [];
  const read = (name: string): string | undefined => {
    const value = environment[name] || undefined;
    const file = fileOf(name, environment);
    if (file === undefined) return value;
    if (value === undefined) return readSecret(`${name}_FILE`, file, problems);
    problems.push(`${name} and ${name}_FILE are both set: unset one of them.`);
    return value;
  };
  return { values: Object.fromEntries(names.map((name) => [name, read(name)])), problems };
}

/** The origin of a variable, even with a bad file: `environment`, `SECRETS_FILE`, or `default` if unset. */
export function sourceOf(name: string, environment: Environment): string {
  if (environment[name]) return 'environment';
  return fileOf(name, environment) === undefined ? 'default' : `${name}_FILE`;
}

/** A sentence for each unknown variable that resembles an unset, not too short one of `names`. */
export function findMistyped(names: readonly string[], environment: Environment): string[] {
  const missing = names.filter((name) => name.length > 6 && sourceOf(name, environment) === 'default');
  const files = missing.filter((name) => FROM_FILES.includes(name)).map((name) => `${name}_FILE`);
  const others = Object.keys(environment).filter((name) => environment[name] && !names.includes(name));
  return [...missing, ...files].flatMap((meant) => {
    const written = others.filter((name) => isNear(name.toUpperCase(), meant, meant.length > 12 ? 2 : 1));
    return written.map((name) => `${name} is unknown, and looks like ${meant}, which is not set.`);
  });
}

/** True if at most `edits` letters are missing, added, changed or swapped with a neighbour (Damerau–Levenshtein). */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === other || edits === 0) return one === other;
  if (one[0] === other[0]) return isNear(one.slice(1), other.slice(1), edits);
  const swap = one[0] === other[1] && one[1] === other[0] ? [[2, 2]] : [];
  const ways = [[1, 1], [1, 0], [0, 1], ...swap];
  return ways.some(([a, b]) => isNear(one.slice(a), other.slice(b), edits - 1));
}

function fileOf(name: string, environment: Environment): string | undefined {
  return (FROM_FILES.includes(name) && environment[`${name}_FILE`]) || undefined;
}

/** Removes the final line end, which editors and `echo` write. */
function readSecret(variable: string, file: string, problems: string[]): string | undefined {
  try {
    const secret = readFileSync(resolveFromCheckout(file), 'utf8').replace(/[\r\n]+$/, '');
    if (secret !== '') return secret;
    problems.push(`${variable} ${file} is empty.`);
  } catch (error) {
    problems.push(`${variable} ${file} can't be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  return undefined;
}
