import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { CLEAN_ENVIRONMENT } from '../../src/trial/postgres/cluster.ts';
import { operatorToken } from '../support/admin.ts';
import { newSecret } from '../support/ledger.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import type { Build } from '../support/process/builds.ts';
import { makeDataDir, removeDataDir } from '../support/process/folder.ts';
import { runAssent, type ServerProcess, spawnServer, start } from '../support/process/process.ts';
import { outputOf, PATIENCE } from '../support/process/program.ts';
import { makeEndedCertificate } from '../support/programs/certificates.ts';
import { openReceivers } from '../support/receivers.ts';
import { createResource } from '../support/registrations.ts';
import { freePort } from '../support/server.ts';
import type { Clock } from './clock.ts';
import { buildWithLongTokens, type Fault } from './planted.ts';

export const SERVER_ROLE = 'assent_server';
const DAYS_OF_CERTIFICATE = 3_650;
const RESTART_MS = 1_000;
/** The clocks of both. */
const SERVERS = ['all', 'second'] as const;

/** An installation as the documents have it: PostgreSQL, two servers, `assent notify`, a receiver, and a payment API's secret. */
export class Installation {
  readonly clock: Clock;
  readonly postgres = new OwnPostgres();
  readonly receivers: Awaited<ReturnType<typeof openReceivers>>;
  readonly ports: readonly number[];
  readonly adminPort: number;
  /** The newest first, as in `SECRETS`. */
  secrets = [newSecret()];
  /** Of the payment API. */
  resource = '';
  readonly #folder: string;
  readonly #fault: Fault | undefined;
  readonly #firstSecrets: string;
  readonly #build: Build | undefined;
  #servers: ServerProcess[] = [];
  #notify: { readonly log: () => string; readonly stop: () => unknown } | undefined;

  static async open(clock: Clock, fault: Fault | undefined): Promise<Installation> {
    const folder = makeDataDir();
    const ports = [await freePort(), await freePort()];
    const made = new Installation(
      clock,
      folder,
      await openReceivers(folder, DAYS_OF_CERTIFICATE),
      ports,
      await freePort(),
      fault,
    );
    // PostgreSQL, too, has the clock.
    Object.assign(CLEAN_ENVIRONMENT, clock.variables());
    await made.postgres.start();
    await made.postgres.run(
      'alter system set fsync = off',
      'select pg_reload_conf()',
      `create role ${SERVER_ROLE} login`,
    );
    await made.command(`migrate --server-role ${SERVER_ROLE}`);
    made.resource = await made.asOwner((pool) => createResource(pool));
    await made.startServers();
    await made.startNotify();
    return made;
  }

  private constructor(
    clock: Clock,
    folder: string,
    receivers: Installation['receivers'],
    ports: readonly number[],
    adminPort: number,
    fault: Fault | undefined,
  ) {
    this.clock = clock;
    this.#folder = folder;
    this.receivers = receivers;
    this.ports = ports;
    this.adminPort = adminPort;
    this.#fault = fault;
    this.#build = fault === 'longTokens' ? buildWithLongTokens() : undefined;
    this.#firstSecrets = this.secrets.join();
  }

  get baseUrl(): string {
    return `http://localhost:${this.ports[0]}`;
  }

  async asOwner<Result>(work: (pool: ReturnType<typeof openDatabase>) => Promise<Result>): Promise<Result> {
    const pool = openDatabase(this.postgres.url());
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  }

  /** Runs `assent …` as the owner of the tables, or as the servers' role. @throws {Error} with what it said if it fails */
  async command(line: string, role = 'assent', stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await this.tryCommand(line, role, stdin);
    if (code !== 0) throw new Error(`assent ${line}: ${stderr}${stdout}`);
    return stdout;
  }

  tryCommand(line: string, role = 'assent', stdin = '') {
    const variables = { ...this.#variables(), DATABASE_URL: this.postgres.url('postgres', role) };
    return runAssent(line.split(' '), variables, stdin);
  }

  newOperator(name: string, days: number): Promise<string> {
    return this.asOwner((pool) => operatorToken(pool, name, 'destroys', days));
  }

  /** Asks the operators' API. @returns the status, and the body */
  async operate(
    token: string,
    what: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const [method = '', path = ''] = what.split(' ');
    const answer = await fetch(`http://127.0.0.1:${this.adminPort}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  async startServers(): Promise<void> {
    this.#servers = await Promise.all(
      SERVERS.map((clock, index) =>
        spawnServer(
          {
            ...this.#variables(clock, index === 1 && this.#fault === 'staleSecrets'),
            PORT: String(this.ports[index]),
            ...(index === 0 && { ADMIN_PORT: String(this.adminPort) }),
          },
          'ready',
          this.#build?.executable,
        ),
      ),
    );
  }

  async stopServers(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  /** It ends when it loses the database, and is started again, as systemd does. */
  async startNotify(): Promise<void> {
    const child = start(['notify'], {
      ...this.#variables(),
      NOTIFY_URL: this.receivers.uriOf('/wallet'),
      NODE_EXTRA_CA_CERTS: this.receivers.certificate,
    });
    const ended = once(child, 'close');
    const notify = { log: outputOf(child), stop: () => child.kill() && ended };
    this.#notify = notify;
    ended.then(async () => {
      await setTimeout(RESTART_MS);
      if (this.#notify === notify) await this.startNotify();
    });
  }

  async stopNotify(): Promise<void> {
    const notify = this.#notify;
    this.#notify = undefined;
    await notify?.stop();
  }

  /** The copy of the audit trail (docs/operate/backup.md): its last line is the place where the next part begins. */
  async copyTrail(): Promise<void> {
    const place = existsSync(this.trailFile)
      ? readFileSync(this.trailFile, 'utf8').trimEnd().split('\n').at(-1)
      : '';
    const lines = await this.command(`audit next --all ${place}`.trim(), SERVER_ROLE);
    appendFileSync(this.trailFile, lines);
  }

  /** A copy of the folder of PostgreSQL, which is stopped meanwhile; servers run. */
  async backUp(): Promise<void> {
    await this.postgres.stop();
    execFileSync('cp', ['-a', this.postgres.cluster, this.#backup]);
    await this.postgres.start();
    await this.untilReady();
  }

  /** docs/operate/backup.md, "After a restore". @param repeat what is repeated by hand before the servers start */
  async restore(repeat: () => Promise<void>): Promise<void> {
    await Promise.all([this.stopServers(), this.stopNotify()]);
    await this.postgres.stop();
    rmSync(this.postgres.cluster, { recursive: true });
    execFileSync('mv', [this.#backup, this.postgres.cluster]);
    await this.postgres.start();
    await this.command(`migrate --server-role ${SERVER_ROLE}`);
    await this.postgres.run('delete from sessions');
    const before = `${this.trailFile}-before`;
    renameSync(this.trailFile, before);
    await this.copyTrail();
    await this.command(`grant revoke --trail ${before} --yes --json`);
    await repeat();
    await Promise.all([this.startServers(), this.startNotify()]);
  }

  async untilReady(): Promise<void> {
    const isReady = async (port: number) =>
      (await fetch(`http://localhost:${port}/health/ready`)).status === 200;
    await vi.waitUntil(async () => (await Promise.all(this.ports.map(isReady))).every(Boolean), PATIENCE);
  }

  get trailFile(): string {
    return join(this.#folder, 'trail.jsonl');
  }

  get #backup(): string {
    return `${this.postgres.cluster}-backup`;
  }

  /** Until {@link renewCertificate} it presents a certificate whose time is over. */
  letCertificateEnd(): void {
    this.receivers.present(makeEndedCertificate(this.#folder, 'ended'));
  }

  renewCertificate(): void {
    this.receivers.present();
  }

  async restart(): Promise<void> {
    await Promise.all([this.stopServers(), this.stopNotify()]);
    await Promise.all([this.startServers(), this.startNotify()]);
  }

  /** What servers and notify have logged, as warnings and errors: a line each. */
  get log(): string[] {
    return [...this.#servers.map((server) => server.output()), this.#notify?.log() ?? '']
      .join('\n')
      .split('\n')
      .filter((line) => /"level":(40|50|"warn"|"error")/.test(line));
  }

  async close(): Promise<void> {
    await Promise.all([this.stopServers(), this.stopNotify()]);
    this.receivers.close();
    this.#build?.remove();
    await this.postgres.remove();
    removeDataDir(this.#folder);
  }

  #variables(clock: string = 'all', isStale = false): Record<string, string> {
    return {
      ...this.clock.variables(clock),
      DATABASE_URL: this.postgres.url('postgres', SERVER_ROLE),
      BASE_URL: this.baseUrl,
      SECRETS: isStale ? this.#firstSecrets : this.secrets.join(),
      LOG_LEVEL: 'warn',
      SPENDING: 'on',
      LIMITS: 'each,until',
      TIME_ZONE: 'Europe/Berlin',
    };
  }
}
