import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { vi } from 'vitest';
import {
  type Binaries,
  CLEAN_ENVIRONMENT,
  findBinaries,
  openBinaries,
} from '../../src/trial/postgres/binaries.ts';
import { createCluster } from '../../src/trial/postgres/cluster.ts';
import { findPlace, type RunAs } from '../../src/trial/postgres/place.ts';
import { removeDataDir } from './folder.ts';
import { descendants } from './launch.ts';

const PORT = 5432;
const PATIENCE = { timeout: 20_000, interval: 10 };

/** A primary and its standbys: real PostgreSQLs that stream. They are named `primary`, `a`, `b` … */
export interface Replication {
  readonly primary: Host;
  readonly standbys: readonly Host[];
  /** For `DATABASE_READ_URL`. */
  readonly readUrl: string;
  /** Waits until each standby streams and has replayed what the primary has written. */
  caughtUp(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Makes a cluster and copies its files before its first start, which is a base backup without a tool.
 *
 * @param names of the standbys
 * @param settings of the primary, and those that a standby has different
 */
export async function startReplication(
  names: readonly string[],
  {
    primary: ofPrimary = {},
    standbys: own = {},
  }: { primary?: Settings; standbys?: Record<string, Settings> } = {},
): Promise<Replication> {
  const dataDir = mkdtempSync(join(tmpdir(), 'assent-replication-'));
  const place = findPlace(dataDir);
  const binaries = await openBinaries(findBinaries(), place.runAs);
  const { signal: cancelled } = new AbortController();
  await createCluster({ place, binaries, cancelled, log: () => {} });
  const folder = `${place.cluster}.hosts`;
  mkdirSync(folder);
  giveTo(folder, place.runAs);
  const make = (name: string, how: Settings) =>
    new Host(join(folder, name), place, binaries, { ...SHIPPED, ...how });
  const primary = make('primary', { wal_keep_size: '512MB', ...ofPrimary });
  const relays = names.map((name) => new Relay(join(folder, `to-${name}`), primary.socket));
  const standbys = names.map((name) => make(name, own[name] ?? {}));
  for (const [index, standby] of standbys.entries()) {
    standby.link = relays[index];
    await standby.link?.open();
    standby.follow(standby.link?.folder ?? '', names[index] ?? '');
  }
  await Promise.all([primary, ...standbys].map((host) => host.start()));
  return {
    primary,
    standbys,
    readUrl: `postgres://assent@${standbys.map((host) => host.address).join(',')}/postgres`,
    async caughtUp() {
      const lsn = await primary.value('pg_current_wal_insert_lsn()');
      const there = async (host: Host) => (await host.value(`pg_last_wal_replay_lsn() >= '${lsn}'`)) === true;
      await Promise.all(standbys.map((host) => vi.waitUntil(() => there(host), PATIENCE)));
    },
    async remove() {
      for (const relay of relays) await relay.close();
      await Promise.all([primary, ...standbys].map((host) => host.stop('SIGQUIT')));
      rmSync(folder, { recursive: true });
      removeDataDir(dataDir);
    },
  };
}

type Settings = Readonly<Record<string, string>>;

const SHIPPED: Settings = {
  listen_addresses: '',
  port: String(PORT),
  shared_buffers: '32MB',
  wal_retrieve_retry_interval: '100ms',
};

/** One PostgreSQL. */
export class Host {
  readonly data: string;
  /** The folder of its socket. */
  readonly folder: string;
  /** What it follows its primary through. */
  link: Relay | undefined;
  readonly #runAs: RunAs;
  readonly #program: string;
  readonly #settings: Settings;
  #process: ChildProcess | undefined;

  constructor(
    folder: string,
    { cluster, runAs }: { cluster: string; runAs: RunAs },
    binaries: Binaries,
    settings: Settings,
  ) {
    this.folder = folder;
    this.data = `${folder}.data`;
    this.#runAs = runAs;
    this.#program = join(binaries.folder, 'bin', 'postgres');
    this.#settings = { ...settings, unix_socket_directories: folder };
    mkdirSync(folder);
    giveTo(folder, runAs);
    execFileSync('cp', ['-a', cluster, this.data]);
  }

  /** Of its first process. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get socket(): string {
    return join(this.folder, `.s.PGSQL.${PORT}`);
  }

  /** As a host of a URL. */
  get address(): string {
    return `${encodeURIComponent(this.folder)}:${PORT}`;
  }

  url(database = 'postgres', role = 'assent'): string {
    return `postgres://${role}@${this.address}/${database}`;
  }

  /** Makes it a standby of the PostgreSQL whose socket is in a folder; from its next start on, or when it is told to reload. */
  follow(folder: string, name: string): void {
    const to = `host=${folder} port=${PORT} user=assent application_name=${name}`;
    writeFileSync(join(this.data, 'standby.signal'), '');
    writeFileSync(join(this.data, 'postgresql.auto.conf'), `primary_conninfo = '${to}'\n`);
  }

  async start(): Promise<void> {
    const options = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const env = CLEAN_ENVIRONMENT;
    this.#process = spawn(this.#program, ['-D', this.data, ...options], {
      ...this.#runAs,
      cwd: '/',
      env,
      stdio: 'ignore',
    });
    await vi.waitUntil(() => this.value('true').catch(() => false), PATIENCE);
  }

  /** Stops it: by SIGINT in order, by SIGQUIT like a crash. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const ended = this.#process && this.#process.exitCode === null && once(this.#process, 'exit');
    this.thaw();
    this.#process?.kill(signal);
    await ended;
    this.#process = undefined;
  }

  /** Freezes all its processes: connections stay open, and nothing answers. */
  freeze(): void {
    for (const pid of this.#processes()) process.kill(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.#processes()) {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {} // it has ended meanwhile
    }
  }

  /** What an expression is here, asked on a connection of its own. */
  async value<Value = unknown>(expression: string): Promise<Value> {
    const client = new pg.Client({ connectionString: this.url() });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(`select ${expression} as value`)).rows[0].value;
    } finally {
      await client.end();
    }
  }

  async run(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.url() });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  #processes(): number[] {
    const pid = this.#process?.pid;
    return pid === undefined || this.#process?.exitCode !== null ? [] : [pid, ...descendants(pid)];
  }
}

/** A socket between a standby and its primary, to cut the two off from each other without telling either. */
export class Relay {
  readonly folder: string;
  readonly #to: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  constructor(folder: string, to: string) {
    this.folder = folder;
    this.#to = to;
    this.#server = createServer((from) => this.#join(from));
  }

  async open(): Promise<void> {
    mkdirSync(this.folder);
    const socket = join(this.folder, `.s.PGSQL.${PORT}`);
    await new Promise<void>((resolve) => this.#server.listen(socket, resolve));
    chmodSync(socket, 0o777);
  }

  /** From now on nothing passes, and connections stay open. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (existsSync(this.folder)) await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(from: Socket): void {
    const to = dial(this.#to);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one);
      one.on('data', (data) => other.write(data));
      one.on('error', () => {});
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      if (this.#isCut) one.pause();
    }
  }
}

function giveTo(folder: string, { uid, gid }: RunAs): void {
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
}
