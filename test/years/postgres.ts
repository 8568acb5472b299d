import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSecret } from '../support/ledger.ts';
import { withClient } from '../support/postgres/postgres.ts';
import type { Clock } from './clock.ts';
import { Cluster, SUPERUSER, UPGRADE } from './cluster.ts';
import type { ByHand } from './manual.ts';

const DATABASE = 'assent';
const OWNER = 'assent_owner';
/** A standby that is away for some minutes goes on from these. */
const KEPT_WAL_BYTES = 512 * 2 ** 20;
const SMALL_DISK_SPARE = 64 * 2 ** 20;
const MESSAGE_BYTES = 4 * 2 ** 20;

export type Role = 'owner' | 'server';

/** A primary, and a standby for which its commits wait. Owner and servers sign in with passwords. */
export class Postgres {
  primary: Cluster;
  #standby: Cluster;
  readonly #byHand: ByHand;
  readonly #hosts: readonly Cluster[];
  readonly #passwords = { owner: newSecret(), server: newSecret() };
  serverRole = 'assent_server_0';

  static async start(clock: Clock, byHand: ByHand): Promise<Postgres> {
    const open = () => Cluster.open(clock.variables(), UPGRADE?.from);
    const made = new Postgres(byHand, await open(), await open());
    made.primary.create();
    made.primary.admit(`local all ${SUPERUSER} trust`, 'local all all scram-sha-256');
    made.primary.start();
    await made.primary.run(
      'alter system set fsync = off',
      `alter system set wal_keep_size = '${KEPT_WAL_BYTES / 2 ** 20}MB'`,
      'alter system set max_connections = 200',
      // A jump of the clock is not a standby that is silent.
      'alter system set wal_sender_timeout = 0',
      'alter system set wal_receiver_timeout = 0',
      `create role ${OWNER} login password '${made.#passwords.owner}'`,
      `create role ${made.serverRole} login password '${made.#passwords.server}'`,
      `create database ${DATABASE} owner ${OWNER} encoding 'UTF8' template template0`,
    );
    made.primary.stop();
    made.primary.start();
    await made.rebuildStandby();
    return made;
  }

  private constructor(byHand: ByHand, primary: Cluster, standby: Cluster) {
    this.#byHand = byHand;
    this.primary = primary;
    this.#standby = standby;
    this.#hosts = [primary, standby];
  }

  /** For `DATABASE_URL`: both hosts, in the same order after a takeover. */
  url(role: Role): string {
    const user = role === 'owner' ? OWNER : this.serverRole;
    const places = this.#hosts.map(({ place }) => `${encodeURIComponent(place.host)}:${place.port}`);
    return `postgres://${user}:${this.#passwords[role]}@${places.join(',')}/${DATABASE}`;
  }

  /** See `README.md`: libfaketime breaks a process now and then. */
  get crashes(): number[] {
    return this.#hosts.flatMap((host) => host.crashes);
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
    const { folder: cluster } = this.primary;
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
    this.primary.give(folder);
  }

  /** A new copy of the primary, which follows it. From then on, commits wait for it. */
  async rebuildStandby(): Promise<void> {
    this.#standby.stop();
    await this.backUp(this.#standby.folder);
    this.#standby.follow(this.primary);
    this.#standby.start();
    await this.#waitForStandby(true);
  }

  async #waitForStandby(waits: boolean): Promise<void> {
    const name = 'synchronous_standby_names';
    const change = waits ? `alter system set ${name} = '*'` : `alter system reset ${name}`;
    await this.primary.run(change, 'select pg_reload_conf()');
  }

  /** Without notice. */
  killPrimary(): Promise<void> {
    return this.primary.kill();
  }

  async promoteStandby(): Promise<void> {
    [this.primary, this.#standby] = [this.#standby, this.primary];
    this.#byHand('promote');
    await this.primary.run('select pg_promote()');
    this.#byHand('removeFromList');
    await this.#waitForStandby(false);
  }

  /** Commits no longer wait for the standby, which gets none from now on. */
  async leaveStandbyBehind(): Promise<void> {
    await this.#waitForStandby(false);
    this.#standby.stop();
  }

  /** To a standby that was left behind: what was committed since then is lost. */
  async loseCommits(): Promise<void> {
    await this.killPrimary();
    this.#standby.start();
    await this.promoteStandby();
    await this.#repairRoles();
    this.#byHand('rebuildStandbys');
    await this.rebuildStandby();
  }

  /** docs/operate/database.md, "Another version of PostgreSQL". @returns false if only one version is installed */
  async upgrade(): Promise<boolean> {
    if (UPGRADE === undefined) return false;
    this.#byHand('upgradePostgres');
    this.#standby.stop();
    this.primary.stop();
    this.primary.upgrade(UPGRADE.to);
    this.primary.start();
    await this.#waitForStandby(false);
    await this.run('analyze');
    this.#standby.useProgramsOf(this.primary);
    await this.rebuildStandby();
    return true;
  }

  async restore(folder: string): Promise<void> {
    this.primary.stop();
    this.#standby.stop();
    rmSync(this.primary.folder, { recursive: true });
    execFileSync('mv', [folder, this.primary.folder]);
    this.primary.start();
    await this.#waitForStandby(false);
    await this.#repairRoles();
    this.#byHand('rebuildStandbys');
    await this.rebuildStandby();
  }

  /** Of a database that is as it was earlier. */
  async #repairRoles(): Promise<void> {
    this.#byHand('rolesAfterRestore');
    const { server, owner } = this.#passwords;
    await this.primary.run(`create role ${this.serverRole}`).catch((error: Error) => {
      if (!error.message.includes('already exists')) throw error;
    });
    await this.primary.run(
      `alter role ${this.serverRole} login password '${server}'`,
      `alter role ${OWNER} password '${owner}'`,
    );
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
    const { folder: cluster } = this.primary;
    const [aside, owner] = [`${cluster}-aside`, statSync(cluster)];
    const [used = 0] = execFileSync('du', ['-sb', cluster], { encoding: 'utf8' }).split('\t').map(Number);
    this.primary.stop();
    execFileSync('mv', [cluster, aside]);
    mkdirSync(cluster, { mode: 0o700 });
    const size = `size=${Math.ceil(used * 1.1) + SMALL_DISK_SPARE}`;
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `${size},mode=700`, 'tmpfs', cluster]);
    const ballast = join(cluster, 'ballast');
    if (status === 0) {
      execFileSync('cp', ['-a', `${aside}/.`, cluster]);
      chownSync(cluster, owner.uid, owner.gid);
      this.primary.start();
      // Connected before: a full disk admits no new connection.
      await withClient(this.primary.url(), (client) =>
        work({
          fill: () => {
            const { bavail, bsize } = statfsSync(cluster);
            execFileSync('fallocate', ['-l', String(bavail * bsize), ballast]);
          },
          fillWal: async () => {
            for (let size = 0; size < KEPT_WAL_BYTES * 2; size += MESSAGE_BYTES)
              await client.query(`select pg_logical_emit_message(false, '', repeat('.', ${MESSAGE_BYTES}))`);
          },
          free: async () => {
            this.#byHand('freeSpace');
            rmSync(ballast);
            if (this.primary.runs()) return;
            this.#byHand('startPostgres');
            this.primary.start();
          },
        }),
      );
      this.primary.stop();
      execFileSync('cp', ['-a', `${cluster}/.`, aside]);
      execFileSync('umount', [cluster]);
    }
    rmSync(cluster, { recursive: true });
    execFileSync('mv', [aside, cluster]);
    this.primary.start();
    return status === 0;
  }

  remove(): void {
    for (const host of this.#hosts) host.remove();
  }
}

export interface SmallDisk {
  /** Leaves no space. */
  fill(): void;
  /** Writes WAL until its next file has no place, which ends PostgreSQL: files that are there are used first. @throws its error */
  fillWal(): Promise<void>;
  /** Frees the space, and starts PostgreSQL if it has ended. */
  free(): Promise<void>;
}
