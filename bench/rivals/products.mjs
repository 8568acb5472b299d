import { execFileSync } from 'node:child_process';
import { django } from './servers/django.mjs';
import { hydra } from './servers/hydra.mjs';
import { keycloak } from './servers/keycloak.mjs';
import { ours } from './servers/ours.mjs';
import { peer } from './servers/peer.mjs';
import { spring } from './servers/spring.mjs';

/** @type {Record<string, import('./servers/server.mjs').Server>} */
export const SERVERS = { ours, peer, hydra, keycloak, spring, django };

const FORM = /^([a-z]+)(-shipped)?(?:@(\d[\d.]*))?$/;

/**
 * A product named on the command line: `ours`, `ours@26` on that Node, `hydra-shipped` with
 * the client's secret hashed by the product's default.
 *
 * @typedef {object} Product
 * @property {string} product the whole name
 * @property {string} name @property {import('./servers/server.mjs').Server} server
 * @property {boolean} shipped @property {string} node the program
 *
 * @param {string} product @returns {Product}
 */
export function productOf(product) {
  const [, name = '', shipped, version] = FORM.exec(product) ?? [];
  const server = SERVERS[name];
  if (server === undefined)
    throw new Error(`--products knows ${Object.keys(SERVERS).join(', ')}; not ${product}`);
  const node = version === undefined ? process.execPath : nodeOf(version);
  return { product, name, server, shipped: shipped !== undefined, node };
}

/** The path of another Node, from packages such as `node`, which npm keeps in its cache. @param {string} version */
function nodeOf(version) {
  const { platform, arch } = process;
  const args = [
    'exec',
    '--yes',
    `--package=node-${platform}-${arch}@${version}`,
    '--',
    'node',
    '-p',
    'process.execPath',
  ];
  return execFileSync('npm', args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }).trim();
}
