import pg from 'pg';
import type { Address } from './databaseUrl.ts';
import { ConnectError, takeoverError } from './errors.ts';

/** The driver's error without a password. */
const NO_PASSWORD = /client password must be a/;
const ASKED_FOR_PASSWORD = 'it requires a password: set PGPASSWORD or PGPASSWORD_FILE';

/** Between two questions to a host; connecting and its answer take at most as long. */
const LOOK_MS = 1_000;
/** A name may lead to another host later: each connection is used for some seconds. */
const LIMITS = {
  connectionTimeoutMillis: LOOK_MS,
  query_timeout: LOOK_MS,
  allowExitOnIdle: true,
  maxUses: 10,
};

/** A primary's data and, in hexadecimal, their timeline, which a takeover makes greater; nulls of a standby. */
const REIGN = `
select max(system_identifier::text) as system, max(left(pg_walfile_name(pg_current_wal_lsn()), 8)) as timeline
  from pg_control_system() where current_setting('transaction_read_only') = 'off'`;

/** What `REIGN` said last counts, also if the host is unreachable since: its predecessor is outdated all the same. */
const hostOf = (address: Address) => ({ address, clients: new Set<pg.Client>(), system: '', timeline: '' });
type Host = ReturnType<typeof hostOf>;
const nameOf = ({ address: { host, port = 5432 } }: Host) => `${host}:${port}`;

/** Failover: the hosts of a URL, and the current one. After a failure the next is tried, after a takeover the newer. */
export class Hosts {
  readonly hosts: readonly Host[];
  #current: Host;
  #firstLook: Promise<unknown> | undefined;

  constructor(addresses: readonly Address[]) {
    this.hosts = addresses.map(hostOf);
    this.#current = this.hosts[0] as Host;
  }

  clientClass(choose = () => this.#current): typeof pg.Client {
    return class extends pg.Client {
      constructor(config?: pg.ClientConfig) {
        const { address, clients } = choose();
        super({ ...config, ...address });
        clients.add(this);
        this.once('end', () => clients.delete(this));
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
    if (this.hosts.length > 1) {
      this.#firstLook ??= Promise.all(this.hosts.map((host) => this.#watch(host, pool)));
      await this.#firstLook;
    }
    for (let left = this.hosts.length; ; left -= 1) {
      const tried = this.#current;
      try {
        return await pool.connect();
      } catch (error) {
        // No connection of the pool became free in time: not the host's fault.
        if (/timeout exceeded when trying to connect/.test((error as Error).message))
          throw new ConnectError(error);
        // Of many connections that fail at once, only one moves on to the next host.
        if (this.#current === tried)
          this.#use(this.hosts[(this.hosts.indexOf(tried) + 1) % this.hosts.length]);
        if (left === 1) throw new ConnectError(error);
      }
    }
  }

  /** Asks a host until the pool ends, as a former primary that goes on doesn't fail. @returns resolved after the first answer */
  #watch(host: Host, pool: pg.Pool): Promise<void> {
    const Client = this.clientClass(() => hostOf(host.address));
    const eye = new pg.Pool({ Client, ...LIMITS }).on('error', () => {});
    const look = async () => {
      if (pool.ending) return eye.end();
      const answer = await eye.query(REIGN).catch(() => null);
      Object.assign(host, answer?.rows[0]);
      for (const former of this.hosts) {
        const successor = this.#successorOf(former);
        if (successor === undefined) continue;
        const error = takeoverError(nameOf(successor), nameOf(former));
        for (const client of former.clients) client.connection.stream.destroy(error);
        if (former === this.#current) pool.emit('error', error); // is logged
        this.#use(this.#current);
      }
      setTimeout(look, LOOK_MS).unref();
    };
    return look();
  }

  #successorOf({ system, timeline }: Host): Host | undefined {
    return this.hosts.find((other) => other.system === system && other.timeline > timeline);
  }

  /** Makes a host the current one, or the one that has taken over from it. */
  #use(host: Host | undefined): void {
    for (let next = host; next !== undefined; next = this.#successorOf(next)) this.#current = next;
  }
}
