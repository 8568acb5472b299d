import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, DATABASE_USER } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { isPostmasterAlive, type Postmaster, readPostmaster, removeRecycledLocks } from './lockFiles.ts';
import type { Place } from './place.ts';
import { isRunning, startPostmaster, stopPostmaster, stopStarted } from './postmaster.ts';

/** Advisory lock on database `postgres`: shared by everyone who uses the cluster, exclusive to whoever stops it. */
const USERS_LOCK = 7_274_826;

/** How long a start may take, with recovery after a crash on a busy machine; it is 0.1 to 3 s otherwise. */
const START_DEADLINE = 30_000;
/** How long one connection or one answer may take before it is tried again. */
const ANSWER_DEADLINE = 10_000;
const POLL = 20;
/** The pause after a start that failed, doubled each time: what holds the data may need a moment to let go. */
const FIRST_PAUSE = 50;
/** Whoever has been refused this often, in 13 s, would be refused for ever: no room on the disk, a broken setting. */
const MAX_STARTS = 8;
/** After a crash everybody notices at once; the first to wake starts it, rather than all removing each other's files. */
const MAX_HESITATION = 200;

const REMOVED = 'removed the lock files of a PostgreSQL that ended without doing so';

/** What `pg` needs to connect. TLS is off in so many words, because PGSSLMODE in our environment would turn it on. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly ssl: false;
}

/** A place among the users of the cluster. PostgreSQL itself gives it up for a process that dies. */
export interface Session {
  readonly connection: Connection;
  readonly client: pg.Client;
  /** Resolves when the connection is gone, for whatever reason. */
  readonly ended: Promise<void>;
}

/**
 * Joins the users of the cluster, and starts PostgreSQL if nobody has.
 * @throws EmbeddedPostgresError when it does not answer within {@link START_DEADLINE}, or joining is cancelled
 */
export async function openSession(cluster: Cluster): Promise<Session> {
  const start = starter(cluster);
  for (const deadline = Date.now() + START_DEADLINE; Date.now() < deadline; await sleep(POLL)) {
    const session = await trySession(cluster.place.cluster);
    if (session) return session;
    if (cluster.cancelled.aborted) throw new EmbeddedPostgresError('joining was cancelled');
    start();
  }
  throw doesNotStart(cluster.place);
}

/**
 * Leaves the users of the cluster; the last one stops PostgreSQL. Whoever tries to join in that moment waits for the
 * lock, sees the connection close, and starts PostgreSQL again. Without a session there is nobody to ask, and only what
 * this process has started itself is stopped.
 * @returns whether PostgreSQL was stopped
 */
export async function closeSession(cluster: Cluster, session: Session | undefined): Promise<boolean> {
  if (session === undefined) return stopStarted(cluster);
  const last = await giveUpLock(session.client);
  const stopped = last === true && (await stopPostmaster(cluster));
  // A connection that broke says that somebody else is stopping PostgreSQL, or that it crashed.
  if (last === undefined) await stopStarted(cluster);
  discard(session.client);
  return stopped;
}

/**
 * @returns whether nobody else holds it: then it is ours alone, and nobody can join before PostgreSQL has stopped;
 * undefined when the connection is broken
 */
async function giveUpLock(client: pg.Client): Promise<boolean | undefined> {
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [USERS_LOCK]);
    const { rows } = await client.query<{ last: boolean }>('select pg_try_advisory_lock($1) as last', [
      USERS_LOCK,
    ]);
    return rows[0]?.last;
  } catch {
    return undefined;
  }
}

/** @returns undefined when PostgreSQL does not run or not yet, or is about to stop: every reason to try again */
async function trySession(folder: string): Promise<Session | undefined> {
  const postmaster = readPostmaster(folder);
  if (!postmaster?.ready) return undefined;
  const connection = connectionTo(postmaster);
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: ANSWER_DEADLINE,
    query_timeout: ANSWER_DEADLINE,
  });
  client.on('error', () => {}); // "end" follows and says all
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  try {
    await client.connect();
    await client.query('select pg_advisory_lock_shared($1)', [USERS_LOCK]);
    return { connection, client, ended };
  } catch {
    discard(client);
    return undefined;
  }
}

function connectionTo({ host, port }: Postmaster): Connection {
  return { host, port, user: DATABASE_USER, database: 'postgres', ssl: false };
}

function discard(client: pg.Client): void {
  client.end().catch(() => {});
}

/**
 * Starts PostgreSQL when called, unless one is starting, running or stopping.
 * @throws EmbeddedPostgresError after {@link MAX_STARTS}
 */
function starter(cluster: Cluster): () => void {
  const { place, log } = cluster;
  const crashed = readPostmaster(place.cluster) !== undefined;
  let next = Date.now() + (crashed ? Math.random() * MAX_HESITATION : 0);
  let starts = 0;
  return () => {
    if (isRunning(cluster.started) || Date.now() < next || isPostmasterAlive(place.cluster)) return;
    if (starts === MAX_STARTS) throw doesNotStart(place);
    // Only after PostgreSQL refused: it knows best, and a process that was just killed lingers for a moment.
    if (starts > 0 && removeRecycledLocks(place.cluster)) log(REMOVED);
    startPostmaster(cluster).once('error', (error) => log(`PostgreSQL cannot be run: ${error.message}`));
    next = Date.now() + FIRST_PAUSE * 2 ** starts++;
  };
}

function doesNotStart({ logFile }: Place): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`PostgreSQL does not start, see ${logFile}, which ends: ${tail(logFile)}`);
}

/** The last words of the log, on one line. */
function tail(logFile: string): string {
  const lines = existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n') : [];
  return lines.slice(-3).join(' / ') || '(empty)';
}
