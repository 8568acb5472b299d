import { describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../src/cli/table.ts';
import { listMigrations } from '../../src/store/schema/schemaState.ts';
import { ownDatabase, type TestDatabase } from '../support/postgres/database.ts';
import { copyOfBuild } from '../support/process/builds.ts';
import { commandsOf } from '../support/process/commands.ts';
import { onDatabase, spawnAssent, spawnServer } from '../support/process/process.ts';

// A command that reads creates and changes no tables of Assent, and neither does a wrong DATABASE_URL.

const ID = '00000000-0000-4000-8000-000000000000';
/** Options that a reading command needs. */
const MORE: Readonly<Record<string, string>> = { audit: ' --limit 1', 'grant list': ' --login x' };
const CHANGING = [
  'client create --name Shop --redirect-uri https://shop.example/',
  'client import',
  'user block x',
  'user import',
  'grant import',
  'grant import --dry-run',
  'grant revoke --client x --yes',
  'audit prune --yes',
];

const NONE = 'this database has no tables of Assent';

async function databaseOf(...statements: string[]): Promise<TestDatabase> {
  const database = await ownDatabase(`template template0 encoding 'UTF8' locale 'C'`);
  for (const statement of statements) await database.pool.query(statement);
  return database;
}

async function stateOf({ pool }: TestDatabase) {
  const { rows } = await pool.query(
    `select oid::regclass::text as name, xmin from pg_class where relnamespace = current_schema()::regnamespace order by 1`,
  );
  return rows;
}

const SHOP = [
  'create table orders (id int primary key)',
  'create table accounts (id int) partition by list (id)',
];

describe('a database of another program', () => {
  it('is left unchanged by read-only commands, maintain and doctor, which report it', async () => {
    const shop = await databaseOf(...SHOP);
    const before = await stateOf(shop);
    const { assent, refused } = commandsOf(shop);
    const reading = Object.entries(COMMANDS).flatMap(([usage, row]) => {
      const isReading = row.operation?.effect === 'reads';
      return isReading ? `${usage.replace(/ \[.*/, '').replace(/<.*>/, ID)}${MORE[usage] ?? ''}` : [];
    });
    expect(reading.length).toBeGreaterThan(15);
    const sentence = `${NONE}: check DATABASE_URL, or run assent migrate\n`;
    for (const line of [...reading, 'maintain', 'maintain --keep 12'])
      expect([line, await refused(line, 1)]).toEqual([line, sentence]);
    expect(await assent('migrate --status')).toEqual({ code: 0, stdout: `${NONE}\n`, stderr: '' });
    const stdout = expect.stringMatching(new RegExp(`^error +${NONE}: check `, 'm'));
    for (const line of ['doctor', 'doctor --invariants'])
      expect(await assent(line), line).toMatchObject({ code: 1, stdout });
    expect(await stateOf(shop)).toEqual(before);
  });

  it('is refused by commands that write and by a server, until assent migrate has run', async () => {
    const shop = await databaseOf(...SHOP);
    const before = await stateOf(shop);
    const { assent, refused, json } = commandsOf(shop);
    const sentence = `${NONE}, but those of another program, such as accounts, orders: check DATABASE_URL, or run assent migrate to create Assent's beside them\n`;
    for (const line of CHANGING) expect([line, await refused(line, 1)]).toEqual([line, sentence]);
    await expect(spawnServer(onDatabase(shop.url))).rejects.toThrow(sentence);
    expect(await stateOf(shop)).toEqual(before);
    expect((await assent('migrate')).code).toBe(0);
    expect(await stateOf(shop)).toEqual(expect.arrayContaining(before));
    const { client_id } = await json('client create --name Shop --redirect-uri https://shop.example/');
    expect(await json('client list')).toEqual([expect.objectContaining({ client_id })]);
    const server = await spawnServer(onDatabase(shop.url));
    expect(await server.stop()).toBe(0);
  });

  it('is unchanged by assent migrate if names conflict', async () => {
    const shop = await databaseOf('create table users (id int)');
    const before = await stateOf(shop);
    const { refused } = commandsOf(shop);
    expect(await refused('migrate', 1)).toMatch(
      /changed nothing: relation "users" already exists; use a separate schema or database for Assent\n$/,
    );
    expect(await stateOf(shop)).toEqual(before);
  });

  it('is recognised even if it has a table schema_migrations of its own', async () => {
    const rails = await databaseOf(
      'create table schema_migrations (version varchar primary key)',
      `insert into schema_migrations values ('20261127080000')`,
    );
    const { refused } = commandsOf(rails);
    expect(await refused('user list', 1)).toContain(`${NONE}: `);
    expect(await refused('user block x', 1)).toContain('such as schema_migrations: ');
  });

  it('is distinguished from a database that has only tables of extensions or other schemas', async () => {
    const empty = await databaseOf(
      'create table spatial (id int)',
      'alter extension plpgsql add table spatial',
      'create schema shop',
      'create table shop.orders (id int)',
    );
    const { assent } = commandsOf(empty);
    const { code, stderr } = await assent('client create --name Shop --redirect-uri https://shop.example/');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^migrated the schema from version 0 to /)]);
    await empty.pool.query('alter extension plpgsql drop table spatial');
  });
});

it('an older schema is left unchanged by read-only commands, and migrated by others', async () => {
  const { length: version } = await listMigrations();
  const later = copyOfBuild('alter table clients add column made integer');
  onTestFinished(() => later.remove());
  const older = await ownDatabase();
  const before = await stateOf(older);
  const run = (line: string) => spawnAssent(line.split(' '), onDatabase(older.url), '', later.executable);
  const refused = (stderr: string) => ({ code: 1, stdout: '', stderr });
  const sentence = `schema version ${version}, this build's is ${version + 1}: run assent migrate, or use the build of the servers\n`;
  for (const line of ['user list', 'audit next', 'explain 00000000', 'maintain'])
    expect([line, await run(line)]).toEqual([line, refused(sentence)]);
  expect(await stateOf(older)).toEqual(before);
  const migrated = `migrated the schema from version ${version} to ${version + 1}\n`;
  expect(await run('user block x')).toEqual(refused(`${migrated}there is no user x\n`));
  expect(await run('user list')).toEqual({ code: 0, stdout: '', stderr: 'no users\n' });
});
