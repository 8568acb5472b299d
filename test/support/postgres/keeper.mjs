import { chownSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { joinEmbeddedPostgres } from '../../../dist/trial/postgres/join.js';

// Keeps the PostgreSQL of a test run, in a process of its own: standard input ends with the run, however the run ends,
// and then the keeper removes all its traces, from a given PostgreSQL or with the embedded one.
//
//   TEST_DATABASE_URL=… node keeper.mjs RUN     prints where PostgreSQL is: {"url":"…","logFile":"…" or null}

const [run] = process.argv.slice(2);
const url = process.env.TEST_DATABASE_URL;
/** Databases and roles of this age were left by a run whose keeper was killed, too. */
const OLD_S = 24 * 60 * 60;
const SHARED_MEMORY = '/dev/shm';
const POLL_MS = 20;
const LINGER_MS = 500;

if (!url) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assent-test-'));
  const embedded = await joinEmbeddedPostgres(dataDir);
  const { host, port, user } = embedded.connection;
  const ours = `postgres://${user}@localhost:${port}/postgres?host=${encodeURIComponent(host)}`;
  await configure(ours);
  const memory = await useMemory(ours);
  await keep({ url: ours, logFile: join(dataDir, 'postgres.log') });
  await embedded.leave();
  if (memory !== null) rmSync(memory, { recursive: true, force: true });
  rmSync(locationOf(dataDir), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
} else {
  await keep({ url, logFile: null });
  // Processes of the run may linger and make what they were about to make, until they notice that it has ended.
  while ((await sweep(url)) > 0) await sleep(LINGER_MS);
}

async function keep(place) {
  console.log(JSON.stringify(place));
  await text(process.stdin);
}

/** Root's cluster is kept outside of the folder. */
function locationOf(dataDir) {
  try {
    return readFileSync(join(dataDir, 'postgres.location'), 'utf8').trim();
  } catch {
    return dataDir;
  }
}

/**
 * The embedded PostgreSQL trusts every role; those that tests make need their passwords, as they would elsewhere. Nothing
 * of the cluster outlives the run, so that it need not wait for the disk.
 */
async function configure(url) {
  const loadTime = () =>
    ask(url, `select pg_conf_load_time()::text as loaded, current_setting('hba_file') as file`);
  const [{ loaded, file }] = await loadTime();
  writeFileSync(file, 'local all /^assent_test_ scram-sha-256\nlocal all all trust\n');
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await ask(url, `alter system set ${setting} = off`);
  await ask(url, 'select pg_reload_conf()');
  while ((await loadTime())[0].loaded === loaded) await sleep(POLL_MS);
}

/**
 * Has room for databases in memory, if the system has enough of it: each has 400 files, and ext4 makes a file slowly where many
 * were deleted in the last minutes. @returns the folder, or null
 */
async function useMemory(url) {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize < 2 ** 30) return null;
  } catch {
    return null; // only Linux has it
  }
  const folder = mkdtempSync(join(SHARED_MEMORY, 'assent-test-'));
  const [{ cluster }] = await ask(url, `select current_setting('data_directory') as cluster`);
  const { uid, gid } = statSync(cluster);
  chownSync(folder, uid, gid);
  await ask(url, `create tablespace memory location '${folder}'`);
  return folder;
}

/** Drops the databases and roles of this run, and those that earlier runs left behind. @returns how many */
async function sweep(url) {
  const client = new pg.Client(url);
  await client.connect();
  const find = async (column, catalog) => {
    const { rows } = await client.query(
      `select ${column} as name from ${catalog}
        where starts_with(${column}, $1) or substring(${column} from '^assent_test_([0-9]{10})_[0-9a-f]{6}_')::bigint < $2
        order by ${column} like '%template' desc`, // without the template no new ones are made
      [`${run}_`, Math.floor(Date.now() / 1000) - OLD_S],
    );
    return rows.map(({ name }) => client.escapeIdentifier(name));
  };
  const databases = await find('datname', 'pg_database');
  for (const name of databases) await client.query(`drop database if exists ${name} with (force)`);
  const roles = await find('rolname', 'pg_roles');
  for (const name of roles) await client.query(`drop role if exists ${name}`);
  await client.end();
  return databases.length + roles.length;
}

async function ask(url, statement) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}
