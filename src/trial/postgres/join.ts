import { onFirstUse } from '../../rules/common/kept.ts';
import { findBinaries, openBinaries } from './binaries.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { findPlace } from './place.ts';
import { interruptPostmaster, readPostmaster, startedPid, stopPostmaster } from './postmaster.ts';
import { type ClusterSession, closeSession, openSession } from './session.ts';

/** A process's part in a cluster. */
interface Member {
  readonly cluster: Cluster;
  leave(): Promise<boolean>;
}

/** This process's members, from the first step of joining to the end of leaving. */
const members = new Set<Member>();

// An immediate exit stops PostgreSQL even under other processes: it must leave none running.
process.on('exit', () => {
  for (const { cluster } of members) {
    const folder = cluster.place.cluster;
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
  const place = findPlace(dataDir);
  const binaries = await openBinaries(installed, place.runAs);
  const cancel = new AbortController();
  const cluster: Cluster = { place, binaries, log, cancelled: cancel.signal };
  const joining = createCluster(cluster).then(() => openSession(cluster));
  const leave = onFirstUse(async () => {
    cancel.abort();
    const stopped = await leaveCluster(cluster, await joining.catch(() => undefined));
    members.delete(member);
    return stopped;
  });
  const member: Member = { cluster, leave };
  members.add(member);
  try {
    const { connection, client } = await joining;
    const remedy = `see ${place.logFile}: stop Assent and start it again`;
    client.once('end', () => {
      if (!cancel.signal.aborted) log(`the connection to the embedded PostgreSQL broke, ${remedy}`);
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

/** Without a connection other users of PostgreSQL are unknown, so only this process's own is stopped. */
async function leaveCluster(cluster: Cluster, session: ClusterSession | undefined): Promise<boolean> {
  const folder = cluster.place.cluster;
  const isLast = session && (await closeSession(session));
  const mine = isLast ? readPostmaster(folder)?.pid : startedPid(cluster);
  const stopped = isLast !== false && (await stopPostmaster(mine, folder));
  session?.client.end().catch(() => {});
  return stopped;
}
