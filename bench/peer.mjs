import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REDIRECT_URI, SCOPE } from './people.mjs';

const FOLDER = fileURLToPath(new URL('peer/', import.meta.url));
/** The size of Assent's own pool (`src/store/database/database.ts`). */
const POOL_SIZE = 10;

/** The compared version of node-oidc-provider. */
export function lockedPeerVersion() {
  return readJson('package-lock.json').packages['node_modules/oidc-provider'].version;
}

/**
 * Starts the peer on its own database; installs missing packages first.
 *
 * @param {import('./site.mjs').Site} site @param {string} database @param {{ id: string, secret: string }} client
 */
export function startPeer(site, database, client) {
  installPeer();
  const { args, variables } = peerCommand(site.urlOf(database), client);
  return site.startServer('peer', args, variables);
}

/** From npm's registry, by its lock file. */
export function installPeer() {
  if (installedVersion() === lockedPeerVersion()) return;
  execFileSync('npm', ['ci', '--silent', '--prefix', FOLDER], { stdio: ['ignore', 2, 2] });
}

/** Node's arguments. @param {string} url of its database @param {{ id: string, secret: string }} client */
export function peerCommand(url, { id, secret }) {
  const own = { DATABASE_URL: url, POOL_SIZE: String(POOL_SIZE), REDIRECT_URI, SCOPE };
  return { args: [`${FOLDER}server.mjs`], variables: { ...own, CLIENT_ID: id, CLIENT_SECRET: secret } };
}

function installedVersion() {
  const file = 'node_modules/oidc-provider/package.json';
  return existsSync(`${FOLDER}${file}`) ? readJson(file).version : null;
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8'));
}
