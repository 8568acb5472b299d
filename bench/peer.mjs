import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { REDIRECT_URI, SCOPE } from './people.mjs';

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
 * @param {import('./site.mjs').Site} site @param {string} database @param {{ id: string, secret: string }} client
 */
export function startPeer(site, database, client) {
  installPeer();
  const { args, variables } = peerCommand(site.urlOf(database), client);
  return site.startServer('peer', args, variables);
}

/** From npm's registry, as its lock file says. */
export function installPeer() {
  if (installedVersion() === lockedPeerVersion()) return;
  execFileSync('npm', ['ci', '--silent', '--prefix', FOLDER], { stdio: ['ignore', 2, 2] });
}

/** What Node is told. @param {string} url of its database @param {{ id: string, secret: string }} client */
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
