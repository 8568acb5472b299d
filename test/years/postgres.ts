import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLEAN_ENVIRONMENT } from '../../src/trial/postgres/cluster.ts';
import { newSecret } from '../support/ledger.ts';
import { OwnPostgres } from '../support/postgres/ownPostgres.ts';
import { withClient } from '../support/postgres/postgres.ts';
import type { Clock } from './clock.ts';
import type { ByHand } from './manual.ts';

const DATABASE = 'assent';
const OWNER = 'assent_owner';
/** A standby that is away for some minutes goes on from these. */
const KEPT_WAL = '512MB';
const SMALL_DISK_SPARE = 64 * 2 ** 20;

export type Role = 'owner' | 'server';

/** A primary, and a standby for which its commits wait. Owner and servers sign in with passwords. */
export class Postgres {
  primary = new OwnPostgres();
  #standby = new OwnPostgres();
  readonly #byHand: ByHand;
  readonly #hosts = [this.primary, this.#standby];
  readonly #passwords = { owner: newSecret(), server: newSecret() };
  serverRole = 'assent_server_0';

  static async start(clock: Clock, byHand: ByHand): Promise<Postgres> {
    Object.assign(CLEAN_ENVIRONMENT, clock.variables());
    const made = new Postgres(byHand);
    await Promise.all(made.#hosts.map((host) => host.start()));
    await made.primary.run(
      'alter system set fsync = off',
      `alter system set wal_keep_size = '${KEPT_WAL}'`,
      'alter system set max_connections = 200',
      `create role ${OWNER} login password '${made.#passwords.owner}'`,
      `create role ${made.serverRole} login password '${made.#passwords.server}'`,
      `create database ${DATABASE} owner ${OWNER} encoding 'UTF8' template template0`,
    );
    await made.primary.admit('local all assent trust\nlocal all all scram-sha-256');
    await made.primary.stop();
    await made.primary.start();
    await made.rebuildStandby();
    return made;
  }

  private constructor(byHand: ByHand) {
    this.#byHand = byHand;
  }

  /** For `DATABASE_URL`: both hosts, in the same order after a takeover. */
  url(role: Role): string {
    const user = role === 'owner' ? OWNER : this.serverRole;
    const places = this.#hosts.map(({ place }) => `${encodeURIComponent(place.host)}:${place.port}`);
    return `postgres://${user}:${this.#passwords[role]}@${places.join(',')}/${DATABASE}`;
  }

  /** As a superuser. */
  run(...statements: string[]): Promise<void> {
    return withClient(this.primary.url(DATABASE), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }

  /** @returns the rows */
  query<Row>(text: string): Promise<Row[]> {
    return withClient(this.primary.url(DATABASE), async (client) => (await client.query(text)).rows);
  }

  /** A base backup, while it runs. */
  async backUp(folder: string): Promise<void> {
    const { cluster } = this.primary;
    // A file that is gone meanwhile is in the WAL.
    const copy = (from: string, to: string) => spawnSync('cp', ['-a', from, to]);
    await withClient(this.primary.url(), async (client) => {
      await client.query(`select pg_backup_start('night', true)`);
      rmSync(folder, { recursive: true, force: true });
      copy(cluster, folder);
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
      copy(`${join(cluster, 'pg_wal')}/.`, join(folder, 'pg_wal'));
      writeFileSync(join(folder, 'backup_label'), rows[0].labelfile);
    });
    rmSync(join(folder, 'postmaster.pid'), { force: true });
    own(folder, cluster);
  }

  /** A new copy of the primary, which follows it. From then on, commits wait for it. */
  async rebuildStandby(): Promise<void> {
    const { host, port } = this.primary.place;
    if (this.#standby.runs()) await this.#standby.stop();
    await this.backUp(this.#standby.cluster);
    this.#standby.becomeStandby();
    const follow = `primary_conninfo = 'host=${host} port=${port} user=assent'\n`;
    writeFileSync(join(this.#standby.cluster, 'postgresql.auto.conf'), follow, { flag: 'a' });
    await this.#standby.start();
    await this.#waitForStandby(true);
  }

  async #waitForStandby(waits: boolean): Promise<void> {
    const name = 'synchronous_standby_names';
    const change = waits ? `alter system set ${name} = '*'` : `alter system reset ${name}`;
    await this.primary.run(change, 'select pg_reload_conf()');
  }

  /** Without notice. */
  killPrimary(): Promise<void> {
    return this.primary.kill('SIGKILL');
  }

  async promoteStandby(): Promise<void> {
    [this.primary, this.#standby] = [this.#standby, this.primary];
    this.#byHand('promote');
    await this.primary.run('select pg_promote()');
    this.#byHand('removeFromList');
    await this.#waitForStandby(false);
  }

  async restore(folder: string): Promise<void> {
    await Promise.all([this.primary.stop(), this.#standby.stop()]);
    rmSync(this.primary.cluster, { recursive: true });
    execFileSync('mv', [folder, this.primary.cluster]);
    await this.primary.start();
    await this.#waitForStandby(false);
    this.#byHand('rolesAfterRestore');
    const { server, owner } = this.#passwords;
    await this.primary.run(`create role ${this.serverRole}`).catch((error: Error) => {
      if (!error.message.includes('already exists')) throw error;
    });
    await this.primary.run(
      `alter role ${this.serverRole} login password '${server}'`,
      `alter role ${OWNER} password '${owner}'`,
    );
    this.#byHand('rebuildStandbys');
    await this.rebuildStandby();
  }

  async replaceOwnersPassword(): Promise<void> {
    this.#byHand('ownersPassword');
    this.#passwords.owner = newSecret();
    await this.primary.run(`alter role ${OWNER} password '${this.#passwords.owner}'`);
  }

  /** A second role with another password. @param grant grants it the privileges @param rollOut restarts the servers with it */
  async replaceServerRole(grant: () => Promise<unknown>, rollOut: () => Promise<unknown>): Promise<void> {
    this.#byHand('serverRole');
    const former = this.serverRole;
    const number = Number(former.slice('assent_server_'.length)) + 1;
    const password = newSecret();
    await this.primary.run(`create role assent_server_${number} login password '${password}'`);
    this.serverRole = `assent_server_${number}`;
    await grant();
    this.#passwords.server = password;
    await rollOut();
    await this.dropRole(former);
  }

  async dropRole(name: string): Promise<void> {
    this.#byHand('dropRole');
    await this.run(`drop owned by ${name}`, `drop role ${name}`);
  }

  /** The primary's data on a small disk meanwhile. @returns false without the right to mount one */
  async onSmallDisk(work: (disk: SmallDisk) => Promise<void>): Promise<boolean> {
    const { cluster } = this.primary;
    const [aside, owner] = [`${cluster}-aside`, statSync(cluster)];
    const [used = 0] = execFileSync('du', ['-sb', cluster], { encoding: 'utf8' }).split('\t').map(Number);
    await this.primary.stop();
    execFileSync('mv', [cluster, aside]);
    mkdirSync(cluster, { mode: 0o700 });
    const size = `size=${Math.ceil(used * 1.1) + SMALL_DISK_SPARE}`;
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `${size},mode=700`, 'tmpfs', cluster]);
    const ballast = join(cluster, 'ballast');
    if (status === 0) {
      execFileSync('cp', ['-a', `${aside}/.`, cluster]);
      chownSync(cluster, owner.uid, owner.gid);
      await this.primary.start();
      await work({
        fill: () => {
          const { bavail, bsize } = statfsSync(cluster);
          execFileSync('fallocate', ['-l', String(bavail * bsize), ballast]);
        },
        // The next one has no place.
        endWalFile: () => this.primary.run('select pg_switch_wal()', 'create table over_the_limit ()'),
        free: async () => {
          this.#byHand('freeSpace');
          rmSync(ballast);
          if (this.primary.runs()) return;
          this.#byHand('startPostgres');
          await this.primary.start();
        },
      });
      await this.primary.stop();
      execFileSync('cp', ['-a', `${cluster}/.`, aside]);
      execFileSync('umount', [cluster]);
    }
    rmSync(cluster, { recursive: true });
    execFileSync('mv', [aside, cluster]);
    await this.primary.start();
    return status === 0;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.remove()));
  }
}

export interface SmallDisk {
  /** Leaves no space. */
  fill(): void;
  endWalFile(): Promise<void>;
  /** Frees the space, and starts PostgreSQL if it has ended. */
  free(): Promise<void>;
}

const own = (folder: string, like: string) => {
  const { uid, gid } = statSync(like);
  execFileSync('chown', ['-R', `${uid}:${gid}`, folder]);
};
