import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { signal } from '../faults/faults/make.ts';
import type { Home } from '../faults/site.ts';
import { ledger } from '../support/ledger.ts';
import { makeRole } from '../support/postgres/postgres.ts';
import { PATH, versionOf } from '../support/process/program.ts';
import { freePort } from '../support/server.ts';
import { type Common, Member } from './member.ts';

// PostgreSQL on three machines by Patroni, etcd and HAProxy: real processes, all on this machine.

const HOST = '127.0.0.1';
const POLL_MS = 200;
/** Against hanging only. */
const DEADLINE_MS = 180_000;
/** Whether no replica of Assent is given several hosts. */
export const HAPROXY_ALONE = process.env.HAPROXY_ALONE === '1';
const HAPROXY_SETTINGS = fileURLToPath(new URL('haproxy.cfg', import.meta.url));

/** At its promotion a primary writes the history of its timeline. */
const TAKEN_OVER_AT = `
select (extract(epoch from modification) * 1000)::float8 as at
  from pg_stat_file('pg_wal/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.history')`;

type Told = Readonly<Record<'name' | 'role' | 'state', string>>;

export class Cluster implements Home {
  readonly members: readonly Member[];
  readonly #common: Common;
  readonly #haproxyPort: number;
  readonly #helpers: ChildProcess[] = [];
  readonly #serverPassword = newPassword();

  private constructor(common: Common, members: readonly Member[], haproxyPort: number) {
    this.#common = common;
    this.members = members;
    this.#haproxyPort = haproxyPort;
  }

  static async start(): Promise<Cluster> {
    const programs = findPrograms();
    const runAs = userOf('postgres');
    const folder = mkdtempSync(join(tmpdir(), 'assent-ha-'));
    chownSync(folder, runAs.uid, runAs.gid);
    const passwords = { superuser: newPassword(), replication: newPassword(), rewind: newPassword() };
    const common: Common = { programs, folder, etcdPort: await freePort(), passwords, runAs };
    const members: Member[] = [];
    for (const name of ['one', 'two', 'three'])
      members.push(new Member({ name, port: await freePort(), restPort: await freePort() }, common));
    const cluster = new Cluster(common, members, await freePort());
    try {
      await cluster.#startAll();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  async #startAll(): Promise<void> {
    await this.#startEtcd();
    for (const member of this.members) member.start();
    this.#startHaproxy();
    await this.isWhole();
    await makeRole(await this.primaryUrl(), 'assent_server', this.#serverPassword, '');
  }

  async #startEtcd(): Promise<void> {
    const { folder, etcdPort } = this.#common;
    const [client, peer] = [`http://${HOST}:${etcdPort}`, `http://${HOST}:${await freePort()}`];
    this.#help('etcd', [
      ...['--data-dir', join(folder, 'etcd'), '--name', 'one'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `one=${peer}`],
    ]);
  }

  #startHaproxy(): void {
    const env: Record<string, string> = { PRIMARY: `${HOST}:${this.#haproxyPort}` };
    for (const { machine } of this.members) {
      env[machine.name.toUpperCase()] = `${HOST}:${machine.port}`;
      env[`${machine.name.toUpperCase()}_REST`] = String(machine.restPort);
    }
    this.#help('haproxy', ['-db', '-f', HAPROXY_SETTINGS], env);
  }

  #help(program: string, args: string[], env: Record<string, string> = {}): void {
    this.#helpers.push(spawn(program, args, { env: { PATH, ...env }, stdio: 'ignore' }));
  }

  get ownerUrl(): string {
    return this.#severalHosts('postgres', this.#common.passwords.superuser);
  }

  /** The first replica finds the primary among several hosts, unless {@link HAPROXY_ALONE}; the second goes through HAProxy. */
  serverUrl(index: number): string {
    if (index === 0 && !HAPROXY_ALONE) return this.#severalHosts('assent_server', this.#serverPassword);
    return `postgres://assent_server:${this.#serverPassword}@${HOST}:${this.#haproxyPort}/postgres`;
  }

  #severalHosts(role: string, password: string): string {
    const hosts = this.members.map(({ machine }) => `${HOST}:${machine.port}`).join(',');
    return `postgres://${role}:${password}@${hosts}/postgres`;
  }

  async primaryUrl(): Promise<string> {
    const { machine } = await this.leader();
    return `postgres://postgres:${this.#common.passwords.superuser}@${HOST}:${machine.port}/postgres`;
  }

  leader(): Promise<Member> {
    return this.#until('has no primary', async (told) => {
      const leader = told.find(({ role, state }) => role === 'leader' && state === 'running');
      const member = this.members.find(({ machine }) => machine.name === leader?.name);
      return member !== undefined && (await this.#isPrimary(member)) ? member : undefined;
    });
  }

  async takesOver(from: Member): Promise<void> {
    await this.#until(`keeps ${from.machine.name} as its primary`, async () => {
      const leader = await this.leader();
      return leader === from ? undefined : leader;
    });
  }

  /** When the primary took over, by its clock in milliseconds since 1970; waits while its promotion goes on. */
  tookOverAt(): Promise<number> {
    return this.#until('has no primary that took over', async () => {
      const client = new pg.Client(await this.primaryUrl());
      client.on('error', () => undefined);
      try {
        await client.connect();
        return (await client.query<{ at: number }>(TAKEN_OVER_AT)).rows[0]?.at;
      } catch {
        return undefined;
      } finally {
        await client.end();
      }
    });
  }

  /** Waits until a primary has two standbys that follow it, one of them synchronous. */
  async isWhole(): Promise<void> {
    await this.#until('does not become whole', async (told) => {
      const follow = told.filter(({ state }) => state === 'streaming');
      const roles = told.map(({ role }) => role);
      const isSafe = roles.includes('leader') && roles.includes('sync_standby');
      return (isSafe && follow.length === this.members.length - 1) || undefined;
    });
  }

  /** Looks at what Patroni tells until there is something to be found. @throws {Error} with that, and the ends of the logs */
  async #until<Found>(
    what: string,
    find: (told: readonly Told[]) => Promise<Found | undefined>,
  ): Promise<Found> {
    for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(POLL_MS)) {
      const found = await find(await this.#tell());
      if (found !== undefined) return found;
    }
    const logs = this.members.map(({ machine: { name } }) => {
      const log = readFileSync(join(this.#common.folder, `${name}.log`), 'utf8').trimEnd();
      return [`${name}:`, ...log.split('\n').slice(-12)].join('\n  ');
    });
    throw new Error(`the cluster ${what}: ${JSON.stringify(await this.#tell())}\n${logs.join('\n')}`);
  }

  async switchOver({ machine }: Member): Promise<void> {
    const body = JSON.stringify({ leader: machine.name });
    const answer = await fetch(`http://${HOST}:${machine.restPort}/switchover`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`no switchover: ${answer.status} ${await answer.text()}`);
  }

  async #tell(): Promise<Told[]> {
    for (const { machine } of this.members) {
      try {
        const signal = AbortSignal.timeout(1_000);
        const answer = await fetch(`http://${HOST}:${machine.restPort}/cluster`, { signal });
        return ((await answer.json()) as { members: Told[] }).members;
      } catch {
        // The next one may know.
      }
    }
    return [];
  }

  async #isPrimary({ machine }: Member): Promise<boolean> {
    const signal = AbortSignal.timeout(1_000);
    return fetch(`http://${HOST}:${machine.restPort}/primary`, { signal }).then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  async close(): Promise<void> {
    for (const member of this.members) {
      const family = member.family();
      signal(family, 'SIGCONT');
      signal(family, 'SIGKILL');
    }
    for (const helper of this.#helpers) helper.kill('SIGKILL');
    while (this.members.some((member) => member.family().length > 0)) await sleep(POLL_MS);
    rmSync(this.#common.folder, { recursive: true, force: true });
  }
}

function newPassword(): string {
  const password = randomBytes(12).toString('hex');
  ledger.note('database password', password);
  return password;
}

function userOf(name: string): { uid: number; gid: number } {
  const [uid = 0, gid = 0] = ['-u', '-g'].map((which) =>
    Number(execFileSync('id', [which, name], { encoding: 'utf8' })),
  );
  return { uid, gid };
}

/** Debian's PostgreSQL: the embedded one has no pg_basebackup and no pg_rewind. */
const DEBIANS = '/usr/lib/postgresql';

function findPrograms({ PATRONI = 'patroni' } = process.env) {
  const versions = existsSync(DEBIANS) ? readdirSync(DEBIANS) : [];
  const postgres = join(DEBIANS, String(Math.max(...versions.map(Number))), 'bin');
  const patroni = versionOf([PATRONI, '--version'], /patroni (\d+)/);
  const install = `python3 -m venv DIR && DIR/bin/pip install 'patroni[etcd3,psycopg3]>=4' 'psycopg[binary]'`;
  const missing = Object.entries({
    'PostgreSQL (apt-get install postgresql)': existsSync(join(postgres, 'pg_rewind')),
    'etcd (apt-get install etcd-server)': versionOf(['etcd', '--version']),
    'HAProxy (apt-get install haproxy)': versionOf(['haproxy', '-v']),
    [`Patroni 4 or newer (${install}, then PATRONI=DIR/bin/patroni)`]: Number(patroni) >= 4, // see patroni#2689
    'root, who runs PostgreSQL as its own user': process.getuid?.() === 0,
  }).flatMap(([what, isThere]) => (isThere ? [] : what));
  if (missing.length > 0) throw new Error(`a cluster needs ${missing.join(', ')}`);
  return { patroni: PATRONI, postgres };
}
