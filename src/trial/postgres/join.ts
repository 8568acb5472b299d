import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { lazy } from '../../rules/common/memoize.ts';
import {
  type Cluster,
  createCluster,
  DATABASE_USER,
  findBinaries,
  makeBinariesAccessible,
} from './cluster.ts';
import { findClusterFolder } from './clusterFolder.ts';
import {
  interruptPostmaster,
  isPostmaster,
  readPostmaster,
  removeRecycledLocks,
  SOCKET_NUMBER,
  socketFolder,
  startedPid,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts';

/** This process's parts in clusters, from the first step of joining to the end of leaving. */
const members = new Set<{ readonly cluster: Cluster; leave(): Promise<boolean> }>();

// An immediate exit stops PostgreSQL even under other processes: it must leave none running.
process.on('exit', () => {
  for (const { cluster } of members) {
    const { folder } = cluster;
    interruptPostmaster(startedPid(cluster) ?? readPostmaster(folder)?.pid, folder);
  }
});

/**
 * Joins the PostgreSQL of `dataDir`, an absolute path; creates and starts it if needed. @returns `connection`: the options of
 * `pg`, the same after each start; `leave`: leaves, after the pools are closed, and gives true if that stopped PostgreSQL, as it
 * does for the last session; repeatable. @throws the obstacle to joining, after stopping all that it started
 */
export async function joinEmbeddedPostgres(dataDir: string, log: Cluster['log'] = () => {}) {
  const installed = findBinaries(); // first: without them the disk stays untouched
  const place = findClusterFolder(dataDir);
  const { folder, runAs, logFile } = place;
  const binaries = await makeBinariesAccessible(installed, runAs);
  const cancel = new AbortController();
  const cluster: Cluster = { ...place, binaries, log, cancelled: cancel.signal };
  const joining = createCluster(cluster).then(() => openSession(cluster));
  const leave = lazy(async () => {
    cancel.abort();
    const session = await joining.catch(() => undefined);
    const isLast = session && (await closeSession(session));
    // Without a connection other users of PostgreSQL are unknown, so only this process's own is stopped.
    const mine = isLast ? readPostmaster(folder)?.pid : startedPid(cluster);
    const stopped = isLast !== false && (await stopPostmaster(mine, folder));
    session?.client.end().catch(() => {});
    members.delete(member);
    return stopped;
  });
  const member = { cluster, leave };
  members.add(member);
  try {
    const { connection, client } = await joining;
    const remedy = `stop Assent and start it again. ${logFile} has the cause`;
    client.once('end', () => {
      if (!cancel.signal.aborted) log(`the connection to the embedded PostgreSQL broke: ${remedy}`);
    });
    return { connection, leave };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** Leaves everything joined or being joined by this process, for an early end. */
export async function leaveEmbeddedPostgres(): Promise<void> {
  await Promise.all(Array.from(members, ({ leave }) => leave()));
}

/** Advisory lock in database `postgres`: shared by the cluster's processes, exclusive for the one that stops it. */
const USERS_LOCK = 7_274_826;

/** Deadline for a start, with recovery after a crash on a busy machine; otherwise it takes 0.1 to 3 s. */
const START_DEADLINE_MS = 30_000;
/** Deadline for one connection or one response; then it is retried. */
const ANSWER_DEADLINE_MS = 10_000;
const POLL_MS = 20;
/** The pause after a failed start, doubled each time: the data may still be locked for a moment. */
const FIRST_PAUSE_MS = 50;
/** Spreads processes that start together after a crash: they must not remove each other's lock files. */
const MAX_HESITATION_MS = 200;

/** A process's use of the cluster: a lock, which PostgreSQL releases when the process dies, and the options of `pg`. */
type ClusterSession = NonNullable<Awaited<ReturnType<typeof trySession>>>;

/**
 * Takes the shared lock. Starts PostgreSQL unless one is starting, running or stopping.
 * @throws {Error} if it doesn't answer within {@link START_DEADLINE_MS}, or joining is cancelled
 */
async function openSession(cluster: Cluster): Promise<ClusterSession> {
  const { folder, logFile, log, cancelled } = cluster;
  const crashed = readPostmaster(folder) !== undefined;
  let nextStart = Date.now() + (crashed ? Math.random() * MAX_HESITATION_MS : 0);
  let starts = 0;
  for (const deadline = Date.now() + START_DEADLINE_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const session = await trySession(folder);
    if (session) return session;
    if (cancelled.aborted) throw new Error('the start of PostgreSQL was cancelled');
    const other = readPostmaster(folder);
    if (Date.now() < nextStart || startedPid(cluster) || isPostmaster(other?.pid, folder)) continue;
    // Only after PostgreSQL itself refused, since a killed process lingers for a moment.
    if (starts > 0 && removeRecycledLocks(folder))
      log('removed the stale lock files of an earlier PostgreSQL');
    startPostmaster(cluster).once('error', (error) => log(`PostgreSQL cannot be run: ${error.message}`));
    nextStart = Date.now() + FIRST_PAUSE_MS * 2 ** starts++;
  }
  const lines = existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n') : [];
  const end = lines.slice(-3).join(' / ') || '(empty)';
  throw new Error(`PostgreSQL does not start, see ${logFile}, which ends: ${end}`);
}

/**
 * Releases the shared lock and tries the exclusive one. A process that joins meanwhile waits for it, sees its connection
 * close, and starts PostgreSQL again. @returns true for the last user; undefined if the connection is broken
 */
async function closeSession({ client }: ClusterSession): Promise<boolean | undefined> {
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [USERS_LOCK]);
    const tryLock = 'select pg_try_advisory_lock($1) as last';
    const { rows } = await client.query<{ last: boolean }>(tryLock, [USERS_LOCK]);
    return rows[0]?.last;
  } catch {
    return undefined;
  }
}

/** @returns undefined while PostgreSQL is not running, or about to stop */
async function trySession(folder: string) {
  if (!readPostmaster(folder)?.isReady) return undefined;
  const socket = { host: socketFolder(folder), port: SOCKET_NUMBER };
  // Without `ssl: false`, PGSSLMODE in our environment would turn TLS on.
  const connection = { ...socket, user: DATABASE_USER, database: 'postgres', ssl: false };
  const limits = { connectionTimeoutMillis: ANSWER_DEADLINE_MS, query_timeout: ANSWER_DEADLINE_MS };
  const client = new pg.Client({ ...connection, ...limits });
  client.on('error', () => {}); // "end" follows and suffices
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [USERS_LOCK]);
    return { connection, client };
  } catch {
    client.end().catch(() => {});
    return undefined;
  }
}
