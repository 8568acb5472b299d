import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { lockedPeerVersion } from './peer.mjs';
import { findPgbench, pgbenchVersion } from './pgbench.mjs';
import { CHECKOUT } from './settings.mjs';

/** PostgreSQL's settings for speed and durability; read back, not assumed. */
const POSTGRES_SETTINGS = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_sync_method',
  'wal_level',
  'shared_buffers',
  'max_wal_size',
  'max_connections',
  'autovacuum',
];
/** PostgreSQL's default durability: a committed exchange survives a power cut. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

const BYTES_PER_GB = 2 ** 30;

/** The machine and its versions. @param {import('./site.mjs').Site} site */
export async function describeMachine(site) {
  const pgbench = findPgbench();
  return {
    at: new Date().toISOString(),
    assent: `${versionOf('package.json')} ${commit()}`,
    node: process.version,
    fastify: versionOf('node_modules/fastify/package.json'),
    'oidc-provider': lockedPeerVersion(),
    pgbench: pgbench === undefined ? 'not there' : await pgbenchVersion(pgbench),
    system: `${type()} ${release()}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory: `${Math.round(totalmem() / BYTES_PER_GB)} GB`,
    postgres: await postgresSettings(site),
  };
}

/** @param {import('./site.mjs').Site} site */
async function postgresSettings(site) {
  const admin = await site.admin();
  /** @type {Record<string, string>} */
  const settings = {};
  for (const name of POSTGRES_SETTINGS) settings[name] = (await admin.query(`show ${name}`)).rows[0][name];
  for (const [name, value] of Object.entries(DURABLE)) {
    if (settings[name] !== value)
      throw new Error(`PostgreSQL's ${name} is ${settings[name]}: nothing is measured then`);
  }
  return settings;
}

/** @param {string} file a `package.json` */
function versionOf(file) {
  return JSON.parse(readFileSync(`${CHECKOUT}${file}`, 'utf8')).version;
}

function commit() {
  try {
    const git = (/** @type {string[]} */ ...args) =>
      execFileSync('git', args, { cwd: CHECKOUT, encoding: 'utf8', stdio: 'pipe' }).trim();
    return git('describe', '--always', '--dirty');
  } catch {
    return '(no git)';
  }
}
