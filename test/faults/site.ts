import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { registerClient } from '../../src/flows/operators/clients.ts';
import { registerResource } from '../../src/flows/operators/resources.ts';
import { registerUser } from '../../src/flows/operators/users.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { ledger } from '../support/ledger.ts';
import { type Line, openLine } from '../support/line.ts';
import { OwnPostgres } from '../support/ownPostgres.ts';
import { onDatabase, runAssent, type ServerProcess, spawnServer } from '../support/process.ts';
import { freePort, type TestClient, type TestUser } from '../support/server.ts';
import type { Life } from './evidence.ts';
import type { Asked, Journal } from './journal.ts';

/** A code is good for so long here, so that one can be late within a fault. */
export const CODE_LIFETIME_MS = 10_000;

const SERVER_ROLE = 'assent_server';

/** Whoever is registered, as drivers know them. */
export interface Population {
  readonly users: readonly TestUser[];
  readonly clients: readonly TestClient[];
  /** Headers of a resource server. */
  readonly resource: string;
}

interface Replica {
  readonly port: number;
  process: ServerProcess | null;
}

/** Where a site has its database: an embedded PostgreSQL, or one that somebody else made, such as a cluster. */
export interface Home {
  /** For the owner of the tables. */
  readonly ownerUrl: string;
  /** For a replica. */
  serverUrl(index: number): string;
  /** Of the PostgreSQL that takes writes now, for one who asks it directly, as its superuser. */
  primaryUrl(): Promise<string>;
  close(): Promise<void>;
}

/** Two replicas of `assent serve`, as processes of their own, on one database. */
export class Site {
  readonly journal: Journal;
  readonly home: Home;
  /** Whose grant is whose, as far as drivers know. */
  readonly owners = new Map<string, Omit<Asked, 'actor' | 'during'>>();
  /** Every token that a caller was given. */
  readonly tokens = new Set<string>();
  /** The fault of now. */
  during = 'start';
  readonly #replicas: Replica[] = [];
  readonly #lives: { name: string; process: ServerProcess; killed: boolean }[] = [];
  readonly #fronts: (number | null)[] = [null, null];

  constructor(home: Home, journal: Journal) {
    this.home = home;
    this.journal = journal;
  }

  /** Brings the schema up to date and starts both replicas. */
  async start(): Promise<void> {
    const { code, stderr } = await runAssent(['migrate', '--server-role', SERVER_ROLE], {
      DATABASE_URL: this.home.ownerUrl,
    });
    if (code !== 0) throw new Error(`assent migrate failed: ${stderr}`);
    for (const index of [0, 1]) {
      this.#replicas.push({ port: await freePort(), process: null });
      await this.startReplica(index);
    }
  }

  /** The public address of both. */
  get baseUrl(): string {
    return `http://localhost:${this.#replicas[0]?.port}`;
  }

  /** Where the load balancer finds a replica. */
  front(index: number): string {
    return `http://localhost:${this.#fronts[index] ?? this.portOf(index)}`;
  }

  /** Has the load balancer go another way to a replica; null: straight. */
  leadBy(index: number, port: number | null): void {
    this.#fronts[index] = port;
  }

  portOf(index: number): number {
    return this.#replicas[index]?.port ?? 0;
  }

  async startReplica(index: number): Promise<void> {
    const replica = this.#replica(index);
    replica.process = await spawnServer({
      ...onDatabase(this.home.serverUrl(index)),
      BASE_URL: this.baseUrl,
      PORT: String(replica.port),
      CODE_LIFETIME_SECONDS: String(CODE_LIFETIME_MS / 1_000),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`,
    });
    const name = `replica ${index}, process ${replica.process.pid}`;
    this.#lives.push({ name, process: replica.process, killed: false });
  }

  /** @returns its exit code; null when the signal ended it */
  async stopReplica(index: number, signal: NodeJS.Signals): Promise<number | null> {
    const { process } = this.#replica(index);
    for (const life of this.#lives) if (life.process === process) life.killed = true;
    return (await process?.stop(signal)) ?? null;
  }

  /** Sends a signal that does not end it. */
  signalReplica(index: number, signal: NodeJS.Signals): void {
    process.kill(this.#replica(index).process?.pid ?? 0, signal);
  }

  get lives(): Life[] {
    return this.#lives.map(({ name, process, killed }) => ({
      name,
      output: process.output(),
      runs: process.isRunning(),
      killed,
    }));
  }

  /** Registers who takes part, as operators do. */
  async populate(users: number, clients: number): Promise<Population> {
    const pool = openDatabase(this.home.ownerUrl);
    try {
      return {
        users: await Promise.all(Array.from({ length: users }, (_, index) => addUser(pool, index))),
        clients: await Promise.all(Array.from({ length: clients }, (_, index) => addClient(pool, index))),
        resource: await addResource(pool),
      };
    } finally {
      await pool.end();
    }
  }

  /** Asks the database as its owner, past all lines. */
  async ask<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client(await this.home.primaryUrl());
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    for (const index of this.#replicas.keys()) {
      if (this.#replica(index).process?.isRunning()) await this.stopReplica(index, 'SIGTERM');
    }
    await this.home.close();
  }

  #replica(index: number): Replica {
    const replica = this.#replicas[index];
    if (replica === undefined) throw new Error(`there is no replica ${index}`);
    return replica;
  }
}

/** In a replica: SIGUSR2 sets its clock an hour ahead, then an hour back, then right. */
const CLOCK = `
const RealDate = Date; let step = 0; const hour = 3_600_000, offsets = [0, hour, -hour];
const now = () => RealDate.now() + offsets[step % 3];
globalThis.Date = class extends RealDate { constructor(...given) { if (given.length > 0) super(...given); else super(now()); } static now() { return now(); } };
process.on('SIGUSR2', () => { step += 1; });`;

/** An embedded PostgreSQL, and a line to it on which things can be done. */
export interface EmbeddedHome extends Home {
  readonly postgres: OwnPostgres;
  readonly line: Line;
}

export async function makeHome(dataDir?: string): Promise<EmbeddedHome> {
  const postgres = new OwnPostgres(dataDir);
  await postgres.start();
  await postgres.run(`create role ${SERVER_ROLE} login`);
  const line = await openLine(postgres.place);
  return {
    postgres,
    line,
    ownerUrl: postgres.url(),
    serverUrl: () => line.url({ url: postgres.url('postgres', SERVER_ROLE) }),
    primaryUrl: async () => postgres.url(),
    async close() {
      line.close();
      await postgres.remove();
    },
  };
}

const newPassword = () => randomBytes(12).toString('hex');

async function addUser(pool: pg.Pool, index: number): Promise<TestUser> {
  const user = {
    login: `user-${index}`,
    password: newPassword(),
    paymentPassword: newPassword(),
  };
  ledger.note('password', user.password);
  ledger.note('payment password', user.paymentPassword);
  const userId = await registerUser(pool, { ...user, name: `User ${index}`, allowWeak: true }, 'faults');
  return { ...user, userId };
}

async function addClient(pool: pg.Pool, index: number): Promise<TestClient> {
  const redirectUri = 'http://127.0.0.1:9/callback';
  const client = {
    name: `Shop ${index}`,
    redirectUri,
    verified: index % 3 > 0,
    allowedRights: null,
    most: null,
  };
  const registered = await registerClient(pool, client, 'faults', { force: true });
  ledger.note('client secret', registered.clientSecret);
  return { ...registered, redirectUri };
}

async function addResource(pool: pg.Pool): Promise<string> {
  const { resourceId, resourceSecret } = await registerResource(pool, 'payment API', 'faults');
  ledger.note('resource secret', resourceSecret);
  return `Basic ${Buffer.from(`${resourceId}:${resourceSecret}`).toString('base64')}`;
}
