import { findBinaries, openBinaries } from './binaries.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { findPlace } from './place.ts';
import { interruptPostmaster, readPostmaster, startedPid, stopPostmaster } from './postmaster.ts';
import { closeSession, openSession, type Session } from './session.ts';

/** This process's members, from the first step of joining to the end of leaving. */
const members = new Set<Member>();

// An immediate exit stops PostgreSQL even under other processes: it must leave none running.
process.on('exit', () => {
  for (const member of members) member.abandon();
});

/**
 * Joins the PostgreSQL of `dataDir`, an absolute path; creates and starts it if needed. @returns `connection`: the options of
 * `pg`, the same after each start; `leave`: leaves, after the pools are closed, and gives true if that stopped PostgreSQL, as it
 * does for the last session; repeatable. @throws {Error}
 */
export async function joinEmbeddedPostgres(dataDir: string, log: Cluster['log'] = () => {}) {
  const installed = findBinaries(); // first: without them the disk stays untouched
  const place = findPlace(dataDir);
  const binaries = await openBinaries(installed, place.runAs);
  const member = new Member({ place, binaries, log });
  return { connection: await member.join(), leave: () => member.leave() };
}

/** Leaves everything joined or being joined by this process, for an early end. */
export async function leaveEmbeddedPostgres(): Promise<void> {
  await Promise.all([...members].map((member) => member.leave()));
}

class Member {
  readonly #cancel = new AbortController();
  readonly #cluster: Cluster;
  readonly #session: Promise<Session>;
  #left: Promise<boolean> | undefined;

  constructor(cluster: Omit<Cluster, 'cancelled'>) {
    this.#cluster = { ...cluster, cancelled: this.#cancel.signal };
    this.#session = createCluster(this.#cluster).then(() => openSession(this.#cluster));
    members.add(this);
  }

  /** @throws the obstacle to joining, after stopping all that it started */
  async join(): Promise<Session['connection']> {
    try {
      const { connection, client } = await this.#session;
      const { log, place } = this.#cluster;
      const remedy = `see ${place.logFile}: stop Assent and start it again`;
      client.once('end', () => {
        if (this.#left === undefined) log(`the connection to the embedded PostgreSQL broke, ${remedy}`);
      });
      return connection;
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  leave(): Promise<boolean> {
    this.#left ??= this.#leave();
    return this.#left;
  }

  /** Stops PostgreSQL without waiting, even under other processes. */
  abandon(): void {
    const { cluster } = this.#cluster.place;
    interruptPostmaster(startedPid(this.#cluster) ?? readPostmaster(cluster)?.pid, cluster);
  }

  /** Without a connection other users of PostgreSQL are unknown, so only this process's own is stopped. */
  async #leave(): Promise<boolean> {
    this.#cancel.abort();
    const { cluster } = this.#cluster.place;
    const session = await this.#session.catch(() => undefined);
    const isLast = session && (await closeSession(session));
    const mine = isLast ? readPostmaster(cluster)?.pid : startedPid(this.#cluster);
    const stopped = isLast !== false && (await stopPostmaster(mine, cluster));
    session?.client.end().catch(() => {});
    members.delete(this);
    return stopped;
  }
}
