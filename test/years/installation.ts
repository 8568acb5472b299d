import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { vi } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { TRAIL } from '../../src/store/operate/notifyCursors.ts';
import { operatorToken } from '../support/admin.ts';
import { newSecret } from '../support/ledger.ts';
import { makeDataDir, removeDataDir } from '../support/process/folder.ts';
import { callAssent, type ServerProcess, spawnServer, start } from '../support/process/process.ts';
import { outputOf, PATIENCE } from '../support/process/program.ts';
import { makeEndedCertificate } from '../support/programs/certificates.ts';
import { openReceivers } from '../support/receivers.ts';
import { createResource } from '../support/registrations.ts';
import { freePort } from '../support/server.ts';
import type { Clock } from './clock.ts';
import { ManualSteps } from './manual.ts';
import type { Fault } from './planted.ts';
import { Postgres, type Role } from './postgres.ts';
import { buildReleases, type Release, type Releases } from './releases.ts';

const DAYS_OF_CERTIFICATE = 3_650;
const RESTART_MS = 1_000;
export const TIME_ZONE = 'Europe/Berlin';
/** The clocks of both. */
const SERVERS = ['all', 'second'] as const;

interface Parts {
  readonly clock: Clock;
  readonly fault: Fault | undefined;
  readonly folder: string;
  readonly manual: ManualSteps;
  readonly postgres: Postgres;
  readonly receivers: Awaited<ReturnType<typeof openReceivers>>;
  readonly releases: Releases;
  readonly ports: readonly number[];
  readonly adminPort: number;
}

/** An installation as the documents have it: PostgreSQL, two servers, `assent notify`, a receiver, and a payment API's secret. */
export class Installation {
  readonly #parts: Parts;
  /** The newest first, as in `SECRETS`. */
  secrets = [newSecret()];
  /** Of the payment API. */
  resource = '';
  release: Release;
  readonly #firstSecrets: string;
  #servers: ServerProcess[] = [];
  #notify: { readonly stop: () => unknown } | undefined;
  /** Of each process, also of those that have ended. */
  readonly #outputs: (() => string)[] = [];

  /** @param isFirst whether it begins with the first release */
  static async open(clock: Clock, fault: Fault | undefined, isFirst: boolean): Promise<Installation> {
    const [folder, manual] = [makeDataDir(), new ManualSteps()];
    const releases = await buildReleases(fault, isFirst);
    const made = new Installation(releases.first ?? releases.current, {
      ...{ clock, fault, folder, manual, releases },
      postgres: await Postgres.start(clock, manual.note),
      receivers: await openReceivers(folder, DAYS_OF_CERTIFICATE),
      ports: [await freePort(), await freePort()],
      adminPort: await freePort(),
    });
    await made.migrate();
    made.resource = await made.asOwner((pool) => createResource(pool));
    await made.startServers();
    await made.startNotify();
    return made;
  }

  private constructor(release: Release, parts: Parts) {
    this.release = release;
    this.#parts = parts;
    this.#firstSecrets = this.secrets.join();
  }

  get clock() {
    return this.#parts.clock;
  }

  get postgres() {
    return this.#parts.postgres;
  }

  get receivers() {
    return this.#parts.receivers;
  }

  get releases() {
    return this.#parts.releases;
  }

  get ports() {
    return this.#parts.ports;
  }

  get manual() {
    return this.#parts.manual;
  }

  get baseUrl(): string {
    return `http://localhost:${this.ports[0]}`;
  }

  async asOwner<Result>(work: (pool: ReturnType<typeof openDatabase>) => Promise<Result>): Promise<Result> {
    const pool = openDatabase(this.postgres.url('owner'));
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  }

  /** Runs `assent …` of the present release. @throws {Error} with what it said if it fails */
  async command(line: string, role: Role = 'owner', stdin = ''): Promise<string> {
    const { code, stdout, stderr } = await this.tryCommand(line, role, stdin);
    if (code !== 0) throw new Error(`assent ${line}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Runs it again if PostgreSQL did not answer in time, as happens on a busy machine. */
  async tryCommand(line: string, role: Role = 'owner', stdin = '') {
    const { PATH = '', HOME = '/' } = process.env;
    const variables = { PATH, HOME, ...this.#variables(), DATABASE_URL: this.postgres.url(role) };
    const call = () => callAssent(line.split(' '), variables, stdin, this.release.main);
    const said = await call();
    return said.stderr.includes('did not answer within') ? call() : said;
  }

  migrate(): Promise<string> {
    return this.command(`migrate --server-role ${this.postgres.serverRole}`);
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
    const answer = await fetch(`http://127.0.0.1:${this.#parts.adminPort}${path}`, {
      method,
      headers: {
        connection: 'close',
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  async startServers(): Promise<void> {
    this.#servers = await Promise.all(SERVERS.map((_, index) => this.#startServer(index)));
  }

  async #startServer(index: number): Promise<ServerProcess> {
    const isStale = index === 1 && this.#parts.fault === 'staleSecrets';
    const variables = {
      ...this.#variables(SERVERS[index], isStale),
      PORT: String(this.ports[index]),
      ...(index === 0 && { ADMIN_PORT: String(this.#parts.adminPort) }),
    };
    const server = await spawnServer(variables, 'ready', this.release.executable);
    this.#outputs.push(server.output);
    return server;
  }

  async stopServers(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  /** It ends when it loses the database, and is started again, as systemd does. */
  async startNotify(): Promise<void> {
    const variables = {
      ...this.#variables(),
      NOTIFY_URL: this.receivers.uriOf('/wallet'),
      NODE_EXTRA_CA_CERTS: this.receivers.certificate,
    };
    const child = start(['notify'], variables, this.release.executable);
    const ended = once(child, 'close');
    this.#outputs.push(outputOf(child));
    const notify = { stop: () => child.kill() && ended };
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
    const lines = await this.command(`audit next --all ${place}`.trim(), 'server');
    appendFileSync(this.trailFile, lines);
  }

  backUp(): Promise<void> {
    return this.postgres.backUp(this.#backup);
  }

  restoreBackup(): Promise<void> {
    return this.postgres.restore(this.#backup);
  }

  /**
   * docs/operate/backup.md, "After a restore".
   *
   * @param bringBack an earlier state of the database
   * @param repeat what is repeated by hand before the servers start
   */
  async restore(bringBack: () => Promise<void>, repeat: () => Promise<void>): Promise<void> {
    const byHand = this.manual.note;
    byHand('restore');
    await Promise.all([this.stopServers(), this.stopNotify()]);
    await bringBack();
    await this.migrate();
    byHand('signAllOut');
    await this.postgres.run('delete from sessions');
    const before = `${this.trailFile}-before`;
    renameSync(this.trailFile, before);
    await this.copyTrail();
    byHand('revokeByTrail');
    await this.command(`grant revoke --trail ${before} --yes --json`);
    byHand('repeatByHand');
    await repeat();
    await Promise.all([this.startServers(), this.startNotify()]);
  }

  async untilReady(): Promise<void> {
    const isReady = (port: number) =>
      fetch(`http://localhost:${port}/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await vi.waitUntil(async () => (await Promise.all(this.ports.map(isReady))).every(Boolean), PATIENCE);
  }

  /** Until `assent notify`, if it runs, has read the trail up to a time; to now without one. */
  async untilNotified(time = this.clock.now()): Promise<void> {
    if (this.#notify === undefined || !this.postgres.primary.runs()) return;
    const read = `select max(split_part(cursor, '.', 2)) from notify_cursors where endpoint = '${TRAIL}'`;
    const isRead = async () => {
      const [{ max } = { max: '' }] = await this.postgres.query<{ max: string }>(read);
      return Number(max) / 1_000 >= time;
    };
    await vi.waitUntil(isRead, { timeout: 10_000, interval: 500 }).catch(() => {}); // an alert will say so
  }

  /** What each server's `/metrics` says. */
  metrics(): Promise<(string | undefined)[]> {
    const ask = async (port: number) => (await fetch(`http://localhost:${port}/metrics`)).text();
    return Promise.all(this.ports.map((port) => ask(port).catch(() => undefined)));
  }

  get folder(): string {
    return this.#parts.folder;
  }

  get trailFile(): string {
    return join(this.folder, 'trail.jsonl');
  }

  get #backup(): string {
    return `${this.postgres.primary.folder}-backup`;
  }

  /** Until {@link renewCertificate} it presents a certificate whose time is over. */
  letCertificateEnd(): void {
    this.receivers.present(makeEndedCertificate(this.folder, 'ended'));
  }

  renewCertificate(): void {
    this.receivers.present();
  }

  /** Restarts `assent notify`, then one server after the other. @param between what is done while only the first has restarted */
  async rollOut(between?: () => Promise<void>): Promise<void> {
    await this.stopNotify();
    await this.startNotify();
    for (const index of SERVERS.keys()) {
      await this.#servers[index]?.stop();
      this.#servers[index] = await this.#startServer(index);
      if (index === 0) await between?.();
    }
  }

  /** docs/operate/upgrade.md. */
  async upgrade(release: Release, between: () => Promise<void>): Promise<void> {
    this.release = release;
    this.manual.note('migrate');
    await this.migrate();
    this.manual.note('upgrade');
    await this.rollOut(between);
  }

  /** What servers and notify have logged, as warnings and errors: a line each. */
  get log(): string[] {
    return this.#outputs
      .flatMap((output) => output().split('\n'))
      .filter((line) => /"level":(40|50|"warn"|"error")/.test(line));
  }

  async close(): Promise<void> {
    await Promise.all([this.stopServers(), this.stopNotify()]);
    this.receivers.close();
    this.releases.remove();
    this.postgres.remove();
    removeDataDir(this.folder);
  }

  #variables(clock: string = 'all', isStale = false): Record<string, string> {
    return {
      ...this.clock.variables(clock),
      DATABASE_URL: this.postgres.url('server'),
      BASE_URL: this.baseUrl,
      SECRETS: isStale ? this.#firstSecrets : this.secrets.join(),
      LOG_LEVEL: 'warn',
      SPENDING: 'on',
      LIMITS: 'each,until',
      TIME_ZONE,
    };
  }
}
