import { appendFileSync } from 'node:fs';
import pg from 'pg';
import { vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { type Line, openLine } from '../support/http/line.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { onDatabase, runAssent, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { createClient, createResource, createUser } from '../support/registrations.ts';
import { freePort, type TestClient, type TestUser } from '../support/server.ts';
import type { Asked, Entry, Life } from './evidence.ts';

const SERVER_ROLE = 'assent_server';

/** Short enough for a code to expire within a fault. */
export const CODE_LIFETIME_MS = 10_000;

/** Of each right that pays: payments of a budget can be added up. */
export const LIMIT = 5_000;

/** Against hanging only. */
const PATIENCE = { timeout: 180_000, interval: 100 };

export interface Home {
  readonly ownerUrl: string;
  serverUrl(index: number): string;
  /** The superuser's URL of the PostgreSQL that takes writes now. */
  primaryUrl(): Promise<string>;
  close(): Promise<void>;
}

export interface EmbeddedHome extends Home {
  readonly postgres: OwnPostgres;
  readonly line: Line;
}

export async function makeHome(): Promise<EmbeddedHome> {
  const postgres = new OwnPostgres();
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

export interface Casting {
  readonly seed: string;
  readonly users: number;
  readonly clients: number;
  readonly journalFile?: string | undefined;
  readonly executable?: string | undefined;
}

export interface Replica {
  readonly index: number;
  readonly port: number;
  front: number;
  process?: ServerProcess;
}

/** Two replicas of `assent serve`, as processes of their own, on one database. */
export class Site {
  readonly entries: Entry[] = [];
  readonly home: Home;
  users: readonly TestUser[] = [];
  clients: readonly TestClient[] = [];
  resource = '';
  /** The owner of each grant, as far as drivers know. */
  readonly owners = new Map<string, Omit<Asked, 'actor' | 'during'>>();
  readonly tokens = new Set<string>();
  during = 'start';
  readonly frozenAt: number[] = [];
  readonly overtakenAt: number[] = [];
  readonly replicas: Replica[] = [];
  readonly #lives: { name: string; process: ServerProcess; killed: boolean }[] = [];
  readonly #casting: Casting;

  constructor(home: Home, casting: Casting) {
    this.home = home;
    this.#casting = casting;
  }

  note(entry: Entry): void {
    const { journalFile } = this.#casting;
    this.entries.push(entry);
    if (journalFile !== undefined) appendFileSync(journalFile, `${JSON.stringify(entry)}\n`);
  }

  async start(): Promise<void> {
    const { code, stderr } = await runAssent(['migrate', '--server-role', SERVER_ROLE], {
      DATABASE_URL: this.home.ownerUrl,
    });
    if (code !== 0) throw new Error(`assent migrate failed: ${stderr}`);
    await this.#populate();
    for (const index of [0, 1]) {
      const port = await freePort();
      this.replicas.push({ index, port, front: port });
    }
    await Promise.all(this.replicas.map((replica) => this.startReplica(replica)));
  }

  async #populate(): Promise<void> {
    const { users, clients } = this.#casting;
    const pool = openDatabase(this.home.ownerUrl);
    const each = <Made>(count: number, make: (index: number) => Promise<Made>) =>
      Promise.all(Array.from({ length: count }, (_, index) => make(index)));
    try {
      this.users = await each(users, () => createUser(pool));
      this.clients = await each(clients, (index) => createClient(pool, { verified: index % 3 > 0 }));
      this.resource = await createResource(pool);
    } finally {
      await pool.end();
    }
  }

  get baseUrl(): string {
    return `http://localhost:${this.replicas[0]?.port}`;
  }

  async startReplica(replica: Replica): Promise<void> {
    const { index, port } = replica;
    const variables = {
      ...onDatabase(this.home.serverUrl(index)),
      BASE_URL: this.baseUrl,
      PORT: String(port),
      SPENDING: 'on',
      CODE_LIFETIME_SECONDS: String(CODE_LIFETIME_MS / 1_000),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`,
    };
    replica.process = await spawnServer(variables, 'ready', this.#casting.executable);
    const name = `replica ${index}, process ${replica.process.pid}`;
    this.#lives.push({ name, process: replica.process, killed: false });
  }

  async stopReplica({ process }: Replica, signal: NodeJS.Signals): Promise<number | null> {
    for (const life of this.#lives) if (life.process === process) life.killed = true;
    return (await process?.stop(signal)) ?? null;
  }

  get lives(): Life[] {
    return this.#lives.map(({ process, ...life }) => {
      return { ...life, output: process.output(), runs: process.isRunning() };
    });
  }

  /** Asks the database as its owner, not through a line; waits while it takes no connections. */
  async ask<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await vi.waitFor(() => connect(this.home), PATIENCE);
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    for (const replica of this.replicas)
      if (replica.process?.isRunning()) await this.stopReplica(replica, 'SIGTERM');
    await this.home.close();
  }
}

async function connect(home: Home): Promise<pg.Client> {
  const client = new pg.Client(await home.primaryUrl());
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** In a replica: SIGUSR2 sets its clock an hour ahead, then an hour back, then right. */
const CLOCK = `
const RealDate = Date; let step = 0; const hour = 3_600_000, offsets = [0, hour, -hour];
const now = () => RealDate.now() + offsets[step % 3];
globalThis.Date = class extends RealDate { constructor(...given) { if (given.length > 0) super(...given); else super(now()); } static now() { return now(); } };
process.on('SIGUSR2', () => { step += 1; });`;
