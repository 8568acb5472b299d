import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { joinEmbeddedPostgres } from '../dist/trial/postgres/join.js';
import { OURS } from './build.mjs';
import { Loader } from './loader.mjs';
import { startProgram } from './program.mjs';
import { parentOf } from './usage.mjs';

/** @param {{ checkout: string }} build */
export const programOf = ({ checkout }) => join(checkout, 'bin/assent.js');
/** Node's arguments. */
export const SERVE = [programOf(OURS), 'serve'];
const SECRET = 'a secret of the benchmark with more than 32 characters';

/**
 * @typedef {Awaited<ReturnType<typeof joinEmbeddedPostgres>>} EmbeddedPostgres
 * @typedef {(dataDir: string) => Promise<EmbeddedPostgres>} Join
 * @typedef {{ name: string, grants: number, db: pg.Client, url: string, build: import('./build.mjs').Build }} BenchDatabase
 */

/**
 * The benchmark's site: one real PostgreSQL with its default settings, and the processes that are
 * started on it. `close` ends and removes all of it.
 */
export class Site {
  #folder;
  #join;
  #embedded;
  /** @type {Promise<pg.Client> | undefined} */
  #admin;
  /** Process id of PostgreSQL's first process. */
  postmaster = NaN;
  /** @type {(() => Promise<unknown>)[]} */
  #closers = [];
  /** @type {Promise<void> | undefined} */
  #closed;

  /**
   * @param {Record<string, string>} postgresSettings changes to PostgreSQL's defaults
   * @param {Join} [start] starts the PostgreSQL of a folder
   */
  static async open(postgresSettings, start = joinEmbeddedPostgres) {
    const folder = mkdtempSync(join(tmpdir(), 'assent-bench-'));
    const site = new Site(folder, start, await start(join(folder, 'data')));
    await site.#configure(postgresSettings);
    const { rows } = await (await site.admin()).query('select pg_backend_pid() as pid');
    site.postmaster = parentOf(rows[0].pid);
    return site;
  }

  /** @param {string} folder @param {Join} start @param {EmbeddedPostgres} embedded */
  constructor(folder, start, embedded) {
    this.#folder = folder;
    this.#join = start;
    this.#embedded = embedded;
  }

  /** Some settings need a restart of PostgreSQL. @param {Record<string, string>} settings */
  async #configure(settings) {
    const client = new pg.Client(this.postgres);
    await client.connect();
    for (const [name, value] of Object.entries(settings)) {
      await client.query(
        `alter system set ${client.escapeIdentifier(name)} = ${client.escapeLiteral(value)}`,
      );
    }
    await client.end();
    await this.#embedded.leave();
    this.#embedded = await this.#join(join(this.#folder, 'data'));
  }

  /** PostgreSQL's address. */
  get postgres() {
    return this.#embedded.connection;
  }

  /** @param {string} name */
  file(name) {
    return join(this.#folder, name);
  }

  /** A connection that may create databases. */
  admin() {
    this.#admin ??= this.connect('postgres');
    return this.#admin;
  }

  /** A connection for the benchmark's own statements, without the server's time limits. @param {string} database */
  async connect(database) {
    const client = new pg.Client({ ...this.postgres, database });
    client.on('error', () => {});
    await client.connect();
    this.#closers.push(() => client.end());
    return client;
  }

  /** An empty database. @param {string} name */
  async createEmptyDatabase(name) {
    await (await this.admin()).query(`create database ${name}`);
  }

  /**
   * A database with so many grants, made and filled by a build.
   *
   * @param {string} name @param {number} grants @param {import('./build.mjs').Build} [build] @returns {Promise<BenchDatabase>}
   */
  async createDatabase(name, grants, build = OURS) {
    await this.createEmptyDatabase(name);
    const url = this.urlOf(name);
    const env = { PATH: process.env.PATH, DATABASE_URL: url };
    execFileSync(process.execPath, [programOf(build), 'migrate'], { env, stdio: 'pipe' });
    const db = await this.connect(name);
    await build.fill(db, grants);
    return { name, grants, db, url, build };
  }

  /** @param {string} name of a database */
  urlOf(name) {
    const { host, port, user } = this.postgres;
    return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`;
  }

  /**
   * The server under test, started like an operator's: `assent serve`, with its log on.
   *
   * @param {BenchDatabase} database @param {string[]} [nodeOptions]
   */
  startAssent(database, nodeOptions = []) {
    const args = [...nodeOptions, programOf(database.build), 'serve'];
    return this.startServer(`assent-${database.name}`, args, assentVariables(database));
  }

  /**
   * Any server. It is stopped at the end at the latest.
   *
   * @param {string} name @param {string[]} args of node @param {Record<string, string>} variables
   */
  startServer(name, args, variables) {
    return this.keep(() => startProgram(args, variables, this.file(`${name}.log`)));
  }

  /** Stops a started process at the end at the latest. @template {{ stop(): Promise<void> }} T @param {() => Promise<T>} start */
  async keep(start) {
    const program = await start();
    this.#closers.push(program.stop);
    return program;
  }

  /** @param {string} [main] its program */
  startLoader(main) {
    const loader = new Loader(main);
    this.#closers.push(() => loader.stop());
    return loader;
  }

  close() {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** One failure to end must not block the rest. */
  async #close() {
    for (const close of this.#closers.reverse()) await close().catch(console.error);
    await this.#embedded.leave();
    removeData(join(this.#folder, 'data'));
    rmSync(this.#folder, { recursive: true });
  }
}

/** Settings as behind one proxy, through which the sign-in flood comes from many networks. @param {{ url: string }} database */
export function assentVariables({ url }) {
  return {
    DATABASE_URL: url,
    BASE_URL: 'http://localhost',
    SECRETS: SECRET,
    HOST: '127.0.0.1',
    TRUST_PROXY: '1',
  };
}

/** Root's cluster is outside of its folder. @param {string} dataDir */
export function removeData(dataDir) {
  const location = join(dataDir, 'postgres.location');
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8').trim(), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
