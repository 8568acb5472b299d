import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('peer/', import.meta.url));
/** The size of Assent's own pool (`src/store/database/database.ts`). */
const POOL_SIZE = 10;

/** The version of node-oidc-provider that is compared with. */
export function lockedPeerVersion() {
  return readJson('package-lock.json').packages['node_modules/oidc-provider'].version;
}

/**
 * Starts the peer on a database of its own; its packages are installed first when they are not there.
 *
 * @param {import('./site.mjs').Site} site @param {string} database @param {Record<string, string>} variables
 */
export function startPeer(site, database, variables) {
  if (installedVersion() !== lockedPeerVersion()) {
    execFileSync('npm', ['ci', '--silent', '--prefix', FOLDER], { stdio: ['ignore', 2, 2] });
  }
  const own = { DATABASE_URL: site.urlOf(database), POOL_SIZE: String(POOL_SIZE) };
  return site.startServer('peer', [`${FOLDER}server.mjs`], { ...own, ...variables });
}

function installedVersion() {
  const file = 'node_modules/oidc-provider/package.json';
  return existsSync(`${FOLDER}${file}`) ? readJson(file).version : null;
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8'));
}
