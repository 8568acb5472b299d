import { appendFileSync } from 'node:fs';
import pg from 'pg';
import { vi } from 'vitest';
import { onDatabase, runAssent, type ServerProcess, spawnServer } from '../support/process/process.ts';
import { freePort } from '../support/server.ts';
import type { Life } from './evidence.ts';
import { type Home, SERVER_ROLE } from './home.ts';
import type { Asked, Entry } from './journal.ts';
import type { Casting } from './round.ts';

/** A code is good for so long here, so that one can be late within a fault. */
export const CODE_LIFETIME_MS = 10_000;

/** Against hanging only. */
const PATIENCE = { timeout: 180_000, interval: 100 };

export interface Replica {
  readonly index: number;
  readonly port: number;
  /** By which port the load balancer goes to it. */
  front: number;
  process?: ServerProcess;
}

/** Two replicas of `assent serve`, as processes of their own, on one database. */
export class Site {
  /** Everything that callers asked and were told, in the order of the answers. */
  readonly entries: Entry[] = [];
  readonly home: Home;
  /** Whose grant is whose, as far as drivers know. */
  readonly owners = new Map<string, Omit<Asked, 'actor' | 'during'>>();
  readonly tokens = new Set<string>();
  during = 'start';
  readonly frozenAt: number[] = [];
  /** When another one took over from a primary that went on, to which a replica is connected without HAProxy. */
  readonly overtakenAt: number[] = [];
  readonly replicas: Replica[] = [];
  readonly #lives: { name: string; process: ServerProcess; killed: boolean }[] = [];
  readonly #casting: Pick<Casting, 'journalFile' | 'executable'>;

  constructor(home: Home, casting: Pick<Casting, 'journalFile' | 'executable'>) {
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
    for (const index of [0, 1]) {
      const port = await freePort();
      this.replicas.push({ index, port, front: port });
    }
    await Promise.all(this.replicas.map((replica) => this.startReplica(replica)));
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

  /** Asks the database as its owner, past all lines; waits for it where it takes no connections now. */
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
