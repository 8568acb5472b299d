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

interface Replica {
  readonly port: number;
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
  readonly #replicas: Replica[] = [];
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

  /** Brings the schema up to date and starts both replicas. */
  async start(): Promise<void> {
    const { code, stderr } = await runAssent(['migrate', '--server-role', SERVER_ROLE], {
      DATABASE_URL: this.home.ownerUrl,
    });
    if (code !== 0) throw new Error(`assent migrate failed: ${stderr}`);
    for (const port of [await freePort(), await freePort()]) this.#replicas.push({ port, front: port });
    await Promise.all([0, 1].map((index) => this.startReplica(index)));
  }

  get baseUrl(): string {
    return `http://localhost:${this.portOf(0)}`;
  }

  front(index: number): string {
    return `http://localhost:${this.#replica(index).front}`;
  }

  leadBy(index: number, port: number): void {
    this.#replica(index).front = port;
  }

  portOf(index: number): number {
    return this.#replica(index).port;
  }

  async startReplica(index: number): Promise<void> {
    const replica = this.#replica(index);
    const variables = {
      ...onDatabase(this.home.serverUrl(index)),
      BASE_URL: this.baseUrl,
      PORT: String(replica.port),
      CODE_LIFETIME_SECONDS: String(CODE_LIFETIME_MS / 1_000),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`,
    };
    replica.process = await spawnServer(variables, 'ready', this.#casting.executable);
    const name = `replica ${index}, process ${replica.process.pid}`;
    this.#lives.push({ name, process: replica.process, killed: false });
  }

  /** @returns its exit code; null when the signal ended it */
  async stopReplica(index: number, signal: NodeJS.Signals): Promise<number | null> {
    const { process } = this.#replica(index);
    for (const life of this.#lives) if (life.process === process) life.killed = true;
    return (await process?.stop(signal)) ?? null;
  }

  signalReplica(index: number, signal: NodeJS.Signals): void {
    process.kill(this.#replica(index).process?.pid ?? 0, signal);
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
