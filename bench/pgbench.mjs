import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Latencies } from './load/latencies.mjs';
import { CLIENTS } from './people.mjs';

const SCRIPTS = fileURLToPath(new URL('pgbench/', import.meta.url));
export const PREPARE = readFileSync(`${SCRIPTS}prepare.sql`, 'utf8');
/** Debian's folder for the programs of each version, outside of PATH. */
const DEBIAN = '/usr/lib/postgresql';
const US_PER_MS = 1_000;
const US_PER_SECOND = 1_000_000;

/** @returns {string | undefined} the path of `pgbench`; the embedded PostgreSQL lacks it */
export function findPgbench() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
  ];
  return folders.map((folder) => join(folder, 'pgbench')).find((file) => existsSync(file));
}

/** @param {string} pgbench */
export async function pgbenchVersion(pgbench) {
  const { stdout } = await promisify(execFile)(pgbench, ['--version']);
  return /\d[\d.]*/.exec(stdout)?.[0];
}

/**
 * Runs a script of `pgbench/` with one connection per client, over the server's socket.
 *
 * @param {{ pgbench: string, script: string, postgres: import('pg').ClientConfig, database: string, users: number, clients: number, seconds: number,
 *   warmSeconds: number, logPrefix: string }} options
 * @returns a result like a load process's
 */
export async function runPgbench(options) {
  const { pgbench, script, postgres, database, users, clients, seconds, logPrefix } = options;
  const variables = { users, clients, applications: CLIENTS };
  const args = [
    ...['--no-vacuum', '--protocol=prepared', `--client=${clients}`, '--jobs=2', `--time=${seconds}`],
    ...['--log', `--log-prefix=${logPrefix}`, `--file=${SCRIPTS}${script}.sql`],
    ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
    ...[`--host=${postgres.host}`, `--port=${postgres.port}`, `--username=${postgres.user}`, database],
  ];
  const { stdout } = await promisify(execFile)(pgbench, args);
  return summarize(
    readTransactions(logPrefix),
    Number(/transactions actually processed: (\d+)/.exec(stdout)?.[1]),
    options,
  );
}

/**
 * The log has a line for each transaction: client, number, microseconds, script, and time of its end.
 *
 * @param {string} logPrefix
 */
function readTransactions(logPrefix) {
  const folder = join(logPrefix, '..');
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => file.startsWith(`${logPrefix}.`));
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
  for (const file of files) rmSync(file);
  return lines.map((line) => {
    const [, , took = NaN, , second = NaN, microsecond = NaN] = line.split(' ').map(Number);
    return { took, ended: second * US_PER_SECOND + microsecond };
  });
}

/**
 * Transactions ended in the first `warmSeconds` don't count, as in every other line.
 *
 * @param {{ took: number, ended: number }[]} transactions @param {number} reported @param {{ warmSeconds: number }} options
 */
function summarize(transactions, reported, { warmSeconds }) {
  if (transactions.length !== reported) throw new Error('the log of pgbench is not whole');
  const ends = transactions.map(({ ended }) => ended);
  const [first, last] = [ends.reduce((a, b) => Math.min(a, b)), ends.reduce((a, b) => Math.max(a, b))];
  const counting = first + warmSeconds * US_PER_SECOND;
  const latencies = new Latencies();
  for (const { took, ended } of transactions) if (ended >= counting) latencies.add(took / US_PER_MS);
  const seconds = (last - counting) / US_PER_SECOND;
  const perSecond = latencies.count / seconds;
  return {
    answers: latencies.count,
    seconds,
    perSecond,
    ...latencies.summary(),
    errors: 0,
    transactions: reported,
  };
}
