import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../dist/store/database.js';
import { migrate } from '../dist/store/migrate.js';
import { joinEmbeddedPostgres } from '../dist/trial/postgres/join.js';
import { fill } from './fill.mjs';
import { Loader } from './loader.mjs';
import { startProgram } from './program.mjs';
import { CHECKOUT } from './settings.mjs';
import { parentOf } from './usage.mjs';

/** What Node is told to run. */
export const SERVE = [join(CHECKOUT, 'bin/assent.js'), 'serve'];
const SECRET = 'a secret of the benchmark with more than 32 characters';

/**
 * Where the benchmark takes place: one real PostgreSQL with the settings it is shipped with, and the processes that are
 * started on it. `close` ends and removes all of it.
 */
export class Site {
  #folder;
  #embedded;
  #closers = [];
  #closed;

  /** @param {Record<string, string>} postgresSettings what differs from PostgreSQL as it is shipped */
  static async open(postgresSettings) {
    const folder = mkdtempSync(join(tmpdir(), 'assent-bench-'));
    const site = new Site(folder);
    site.#embedded = await joinEmbeddedPostgres(join(folder, 'data'));
    await site.#configure(postgresSettings);
    site.admin = await site.connect('postgres');
    const { rows } = await site.admin.query('select pg_backend_pid() as pid');
    site.postmaster = parentOf(rows[0].pid);
    return site;
  }

  constructor(folder) {
    this.#folder = folder;
  }

  /** Some settings need a start of PostgreSQL. */
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
    this.#embedded = await joinEmbeddedPostgres(join(this.#folder, 'data'));
  }

  /** Where PostgreSQL is. */
  get postgres() {
    return this.#embedded.connection;
  }

  file(name) {
    return join(this.#folder, name);
  }

  /** A connection for the benchmark's own statements, without the server's time limits. */
  async connect(database) {
    const client = new pg.Client({ ...this.postgres, database });
    client.on('error', () => {});
    await client.connect();
    this.#closers.push(() => client.end());
    return client;
  }

  /** A migrated database with so many grants. */
  async createDatabase(name, grants) {
    await this.admin.query(`create database ${name}`);
    const pool = openDatabase({ ...this.postgres, database: name }, () => {});
    await migrate(pool);
    await pool.end();
    const db = await this.connect(name);
    await fill(db, grants);
    return { name, grants, db, url: this.urlOf(name) };
  }

  urlOf(name) {
    const { host, port, user } = this.postgres;
    return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}&port=${port}`;
  }

  /**
   * The server under test as its operator would start it: `assent serve`, with its log on.
   *
   * @param {string[]} [nodeOptions]
   */
  startAssent(database, nodeOptions = []) {
    return this.startServer(`assent-${database.name}`, [...nodeOptions, ...SERVE], assentVariables(database));
  }

  /** Any server. It is stopped at the end if not before. */
  async startServer(name, args, variables) {
    const program = await startProgram(args, variables, this.file(`${name}.log`));
    this.#closers.push(program.stop);
    return program;
  }

  startLoader() {
    const loader = new Loader();
    this.#closers.push(() => loader.stop());
    return loader;
  }

  close() {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** What fails to end must not keep the rest from ending. */
  async #close() {
    for (const close of this.#closers.reverse()) await close().catch(console.error);
    await this.#embedded?.leave();
    removeData(join(this.#folder, 'data'));
    rmSync(this.#folder, { recursive: true });
  }
}

/** As an operator sets them behind one proxy: the sign-in flood comes from many networks through it. */
export function assentVariables({ url }) {
  return {
    DATABASE_URL: url,
    BASE_URL: 'http://localhost',
    SECRETS: SECRET,
    HOST: '127.0.0.1',
    TRUST_PROXY: '1',
  };
}

/** Root's cluster is kept outside of its folder. */
export function removeData(dataDir) {
  const location = join(dataDir, 'postgres.location');
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8').trim(), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
