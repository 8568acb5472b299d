import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { joinEmbeddedPostgres } from '../../../src/trial/postgres/join.ts';
import { clusterOf, makeDataDir, postmasterOf, removeDataDir } from '../process/folder.ts';
import { descendants, stillRunning } from '../process/launch.ts';
import { PATIENCE } from '../process/program.ts';
import { withClient } from './postgres.ts';

/** A PostgreSQL that a test has for itself, to stop, to start again, and to turn into a standby. */
export class OwnPostgres {
  readonly #dataDir: string;
  #member: Awaited<ReturnType<typeof joinEmbeddedPostgres>> | undefined;

  constructor(dataDir = makeDataDir()) {
    this.#dataDir = dataDir;
  }

  async start(): Promise<void> {
    this.#member = await joinEmbeddedPostgres(this.#dataDir);
  }

  /** Stops it the way a restart does: connections are ended, and then its socket is gone. */
  async stop(): Promise<void> {
    const running = () => this.runs();
    await this.#member?.leave();
    if (running()) process.kill(postmasterOf(this.#dataDir), 'SIGINT'); // it was told to wait for others
    await vi.waitUntil(() => !running(), PATIENCE);
  }

  /** Ends it without notice, and waits until all its processes have ended. */
  async kill(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    const family = this.family();
    process.kill(postmasterOf(this.#dataDir), signal);
    await vi.waitUntil(() => stillRunning(family).length === 0, PATIENCE);
    await this.#member?.leave();
  }

  runs(): boolean {
    return existsSync(this.#file('postmaster.pid'));
  }

  family(): number[] {
    const postmaster = postmasterOf(this.#dataDir);
    return [postmaster, ...descendants(postmaster)];
  }

  get cluster(): string {
    return clusterOf(this.#dataDir);
  }

  get place(): { host: string; port: number } {
    const { host = '', port = 0 } = this.#member?.connection ?? {};
    return { host, port };
  }

  /** Has it refuse new connections, and wait for the end of the present ones. */
  async beginToStop(): Promise<void> {
    process.kill(postmasterOf(this.#dataDir), 'SIGTERM');
    await vi.waitUntil(
      () => readFileSync(this.#file('postmaster.pid'), 'utf8').includes('stopping'),
      PATIENCE,
    );
  }

  /** For `DATABASE_URL`; the same after each start. */
  url(database = 'postgres', role = 'assent'): string {
    const { host, port } = this.place;
    return `postgres://${role}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  }

  /** From the next start on it follows a primary, which is never there, until it is promoted. */
  becomeStandby(): void {
    writeFileSync(this.#file('standby.signal'), '');
  }

  /** From the next start on it has the data of a primary, and follows it until it is promoted. Both are stopped. */
  follow(primary: OwnPostgres): void {
    rmSync(this.cluster, { recursive: true });
    execFileSync('cp', ['-a', primary.cluster, this.cluster]);
    const { host, port } = primary.place;
    appendFileSync(
      this.#file('postgresql.auto.conf'),
      `primary_conninfo = 'host=${host} port=${port} user=assent'\n`,
    );
    this.becomeStandby();
  }

  /** Puts a line in front of the rules of pg_hba.conf, which need no password. */
  async admit(rule: string): Promise<void> {
    const file = this.#file('pg_hba.conf');
    writeFileSync(file, `${rule}\n${readFileSync(file, 'utf8')}`);
    await this.run('select pg_reload_conf()');
  }

  async run(...statements: string[]): Promise<void> {
    await withClient(this.url(), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }

  async remove(): Promise<void> {
    await this.stop();
    removeDataDir(this.#dataDir);
  }

  #file(name: string): string {
    return join(clusterOf(this.#dataDir), name);
  }
}
