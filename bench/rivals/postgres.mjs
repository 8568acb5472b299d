import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  CLEAN_ENVIRONMENT,
  createCluster,
  DATABASE_USER,
  findBinaries,
  makeBinariesAccessible,
} from '../../dist/trial/postgres/cluster.js';
import { findClusterFolder } from '../../dist/trial/postgres/clusterFolder.js';
import { freePort } from '../program.mjs';

const POLL_MS = 50;
const HOST = '127.0.0.1';

/**
 * Starts PostgreSQL as the benchmark does, but on TCP: Java's driver can't use a Unix socket. All users of this machine
 * may connect meanwhile, without a password.
 *
 * @param {string | undefined} programs the folder of `initdb` and `postgres`; without it those of the embedded one
 * @returns {import('../site.mjs').Join}
 */
export function postgresOnTcp(programs) {
  return async (dataDir) => {
    const place = findClusterFolder(dataDir);
    const binaries = programs
      ? installed(programs)
      : await makeBinariesAccessible(findBinaries(), place.runAs);
    const cluster = { ...place, binaries, log: console.error, cancelled: new AbortController().signal };
    await createCluster(cluster);
    return start(cluster, await freePort());
  };
}

/** @param {string} programs */
function installed(programs) {
  const said = execFileSync(`${programs}/postgres`, ['--version'], { encoding: 'utf8' });
  return { folder: dirname(programs), version: /\d[\d.]*/.exec(said)?.[0] ?? '' };
}

/** @param {import('../../dist/trial/postgres/cluster.js').Cluster} cluster @param {number} port */
async function start({ folder, runAs, logFile, binaries }, port) {
  const log = openSync(logFile, 'a', 0o600);
  const args = ['-D', folder, '-h', HOST, '-p', String(port), '-k', folder];
  const child = spawn(`${binaries.folder}/bin/postgres`, args, {
    ...runAs,
    cwd: '/',
    env: CLEAN_ENVIRONMENT,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = once(child, 'exit');
  process.once('exit', () => child.kill('SIGINT'));
  const connection = {
    host: HOST,
    port,
    user: DATABASE_USER,
    database: 'postgres',
    ssl: /** @type {const} */ (false),
  };
  await untilReady(connection, () => child.exitCode !== null, logFile);
  const leave = async () => {
    child.kill('SIGINT');
    await ended;
    return true;
  };
  return { connection, leave };
}

/** @param {import('pg').ClientConfig} connection @param {() => boolean} hasEnded @param {string} logFile */
async function untilReady(connection, hasEnded, logFile) {
  for (;;) {
    if (hasEnded()) throw new Error(`PostgreSQL ended: see ${logFile}`);
    const client = new pg.Client(connection);
    const answers = await client.connect().then(
      () => true,
      () => false,
    );
    if (answers) return client.end();
    await sleep(POLL_MS);
  }
}
