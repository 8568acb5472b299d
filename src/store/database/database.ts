import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { BATCH_QUEUE_TIMEOUT_MS, DATABASE_RESPONSE_TIMEOUT_MS } from '../../rules/common/timeouts.ts';
import { begin, prepareConnection, send } from './connection.ts';
import { type Address, parseAddresses } from './databaseUrl.ts';
import { ConnectError, standbyError } from './errors.ts';
import { Hosts } from './hosts.ts';

/** A pool or one of its connections: every statement of the store runs on either. */
export type Database = pg.Pool | pg.PoolClient;

const POOL_SIZE = 10;
/** A new connection compares its clock again, and lets a pooler or load balancer choose again. */
const CONNECTION_LIFETIME_SECONDS = 300;

/** Digests stay text; `Date` parses our connections' only format three times as fast as pg's own parser. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.BYTEA, (digest) => digest);
TYPES.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (time) => new Date(time));

/** Connects on first use, and again after an outage. @param password for an address without one @throws {AddressError} */
export function openDatabase(where: string | Address, password: string | null = null): pg.Pool {
  const addresses = typeof where === 'string' ? parseAddresses(where) : [where];
  const hosts = new Hosts(password === null ? addresses : addresses.map((one) => ({ password, ...one })));
  const pool = new pg.Pool({
    Client: hosts.clientClass(),
    max: POOL_SIZE,
    connectionTimeoutMillis: DATABASE_RESPONSE_TIMEOUT_MS,
    maxLifetimeSeconds: CONNECTION_LIFETIME_SECONDS,
    pipeline: true, // see `runAlone`: one round trip instead of three
    types: TYPES,
    keepAlive: true,
    application_name: 'assent',
    async onConnect(connection) {
      const { takesWrites } = await prepareConnection(connection);
      if (addresses.length > 1 && !takesWrites) throw standbyError();
    },
  });
  hostsByPool.set(pool, hosts);
  // Without a listener an error ends the process. An idle connection's is harmless: the next query opens another. A busy
  // connection's error reaches the running statement.
  pool.on('error', () => {});
  pool.on('connect', (connection) => connection.on('error', () => {}));
  return pool;
}

export const hostsByPool = new WeakMap<pg.Pool, Hosts>();

/** Holds a pool's statements until its database is migrated, and fails them while it is unreachable. */
export interface MigrationGate {
  /** Resolved by the first attempt to migrate, after any time. */
  readonly tried: Promise<void>;
  /** The error of the last attempt. */
  cause?: unknown;
}

export const gateOf = new WeakMap<pg.Pool, MigrationGate>();

/**
 * A connection of the pool, for the caller to release. @throws the cause of its {@link MigrationGate}; {@link ConnectError} if the migration
 * takes more than 2 seconds
 */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  if (gateOf.has(pool)) {
    await Promise.race([
      gateOf.get(pool)?.tried,
      setTimeout(BATCH_QUEUE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    const closed = gateOf.get(pool);
    if (closed) throw closed.cause ?? new ConnectError(new Error('its schema is being migrated'));
  }
  return hostsByPool.get(pool)?.connect(pool) ?? pool.connect();
}

export type Work<Result> = (connection: pg.PoolClient) => Promise<Result>;

/** Runs `work` on one connection of the pool, which is closed after a failure. */
export async function withConnection<Result>(pool: pg.Pool, work: Work<Result>): Promise<Result> {
  const connection = await connect(pool);
  let finished = false;
  try {
    const result = await work(connection);
    finished = true;
    return result;
  } finally {
    connection.release(!finished);
  }
}

export function transaction<Result>(pool: pg.Pool, work: Work<Result>): Promise<Result> {
  // After an error the connection is closed, which rolls back from any state.
  return withConnection(pool, async (connection) => {
    await begin(connection);
    const result = await work(connection);
    await send(connection, 'commit');
    return result;
  });
}
