import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of package.json. */
const CHECKOUT = fileURLToPath(new URL('..', import.meta.url));

/** Variables that may be given as a file, in a variable with `_FILE` behind the name. */
const SECRET_VARIABLES = ['DATABASE_URL', 'DATABASE_READ_URL', 'PGPASSWORD', 'SECRETS', 'METRICS_TOKEN'];

/** The absolute path of a file: relative paths are relative to the checkout, wherever the command was started. */
export function inCheckout(file: string): string {
  return resolve(CHECKOUT, file);
}

/**
 * Reads variables, each from its file where it is given as one. Empty ones count as not set, as compose files pass them.
 *
 * @returns the values, and a sentence for each file that can't be used
 */
export function readVariables(
  names: readonly string[],
  environment: Environment,
): { values: Environment; problems: string[] } {
  const problems: string[] = [];
  const read = (name: string): string | undefined => {
    const value = environment[name] || undefined;
    const file = fileOf(name, environment);
    if (file === undefined) return value;
    if (value === undefined) return readSecret(`${name}_FILE`, file, problems);
    problems.push(`${name} and ${name}_FILE are both set: leave one of them out.`);
    return value;
  };
  return { values: Object.fromEntries(names.map((name) => [name, read(name)])), problems };
}

/** Whether a variable is set, itself or as a file, be the file good or not. */
export function isGiven(name: string, environment: Environment): boolean {
  return Boolean(environment[name]) || fileOf(name, environment) !== undefined;
}

/** The variable as a message names it: `SECRETS`, or `SECRETS from SECRETS_FILE`. */
export function sourceOf(name: string, environment: Environment): string {
  return fileOf(name, environment) === undefined ? name : `${name} from ${name}_FILE`;
}

function fileOf(name: string, environment: Environment): string | undefined {
  return (SECRET_VARIABLES.includes(name) && environment[`${name}_FILE`]) || undefined;
}

/** Without the line end behind it, which editors and `echo` write. */
function readSecret(variable: string, file: string, problems: string[]): string | undefined {
  try {
    const secret = readFileSync(inCheckout(file), 'utf8').replace(/[\r\n]+$/, '');
    if (secret !== '') return secret;
    problems.push(`${variable} ${file} is empty.`);
  } catch (error) {
    problems.push(`${variable} ${file} can't be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
  return undefined;
}
