import pg from 'pg';
import type { Address } from './databaseUrl.ts';
import { ConnectError } from './errors.ts';

/** The driver's error without a password. */
const NO_PASSWORD = /client password must be a/;
const ASKED_FOR_PASSWORD = 'it asks for a password: set PGPASSWORD or PGPASSWORD_FILE';

/** The pool's error if no connection became free in time; not the host's fault. */
const POOL_IS_FULL = /timeout exceeded when trying to connect/;

/** Failover: the hosts of a URL, and the current one. After a failure the next is tried. */
export class Hosts {
  readonly #addresses: readonly Address[];
  #current = 0;

  constructor(addresses: readonly Address[]) {
    this.#addresses = addresses;
  }

  clientClass(): typeof pg.Client {
    const current = () => this.#addresses[this.#current];
    return class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        super({ ...config, ...current() });
      }

      override connect(): Promise<pg.Client>;
      override connect(done: (error: Error) => void): void;
      override connect(done?: (error: Error) => void): Promise<pg.Client> | undefined {
        if (done === undefined) return super.connect();
        super.connect((error: Error) => {
          // A connection that can't sign in is closed: the driver leaves that to PostgreSQL, which waits a minute for more.
          if (error) void this.end();
          done(NO_PASSWORD.test(error?.message) ? new Error(ASKED_FOR_PASSWORD, { cause: error }) : error);
        });
        return undefined;
      }
    };
  }

  /** Connects to the first host that admits us. @throws {ConnectError} */
  async connect(pool: pg.Pool): Promise<pg.PoolClient> {
    for (let left = this.#addresses.length; ; left -= 1) {
      const tried = this.#current;
      try {
        return await pool.connect();
      } catch (error) {
        if (POOL_IS_FULL.test((error as Error).message)) throw new ConnectError(error);
        // Of many connections that fail at once, only one moves on to the next host.
        if (this.#current === tried) this.#current = (tried + 1) % this.#addresses.length;
        if (left === 1) throw new ConnectError(error);
      }
    }
  }
}
