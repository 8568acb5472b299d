import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CHECKOUT, RESULTS } from './settings.mjs';

/**
 * A compiled state of this repository, with its own benchmark's knowledge of its tables and forms.
 *
 * @typedef {object} Build
 * @property {string} name empty for this checkout, else the commit
 * @property {string} checkout
 * @property {typeof import('./fill.mjs').fill} fill
 * @property {Pick<typeof import('./questions.mjs'), 'exchanges' | 'introspections' | 'authorizations'>} questions
 */

export const OURS = await load('', CHECKOUT);

/** Compiles a commit once, in a separate folder, with the packages of its own lock file. @param {string} ref */
export async function buildOf(ref) {
  const commit = git('rev-parse', '--short=7', `${ref}^{commit}`).toString().trim();
  const checkout = join(RESULTS, 'builds', commit);
  if (!existsSync(checkout)) {
    process.stderr.write(`  building ${commit}\n`);
    const draft = `${checkout}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    execFileSync('tar', ['-x', '-C', draft], { input: git('archive', commit) });
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: draft,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    renameSync(draft, checkout);
  }
  return load(commit, checkout);
}

/** @param {string} name @param {string} checkout @returns {Promise<Build>} */
async function load(name, checkout) {
  const moduleOf = (/** @type {string} */ file) => import(pathToFileURL(join(checkout, 'bench', file)).href);
  const [{ fill }, questions] = [await moduleOf('fill.mjs'), await moduleOf('questions.mjs')];
  return { name, checkout, fill, questions };
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, { cwd: CHECKOUT, maxBuffer: 2 ** 28 });
}
