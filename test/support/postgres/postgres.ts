import { isIPv6 } from 'node:net';
import pg from 'pg';
import { type DatabaseConfig, readDatabaseConfig } from '../../../src/config/config.ts';

/** The PostgreSQL that the tests were given, as a URL that says everything; null for the embedded one. */
export function givenPostgres({ TEST_DATABASE_URL, TEST_DATABASE_URL_FILE, ...others } = process.env) {
  const DATABASE_URL = TEST_DATABASE_URL;
  return complete(readDatabaseConfig({ ...others, DATABASE_URL, DATABASE_URL_FILE: TEST_DATABASE_URL_FILE }));
}

/** Processes get the URL alone, so what the driver would find elsewhere is written into it. */
function complete({ databaseUrl, databasePassword }: DatabaseConfig): string | null {
  if (databaseUrl === null) return null;
  const { host, port, user = '', password, database = '' } = new pg.Client(databaseUrl);
  const url = new URL(`postgres://localhost:${port}`);
  url.search = new URL(databaseUrl).search;
  for (const name of ['host', 'port', 'user', 'password']) url.searchParams.delete(name);
  if (host.startsWith('/')) url.searchParams.set('host', host);
  else url.hostname = isIPv6(host) ? `[${host}]` : host;
  return urlOf(url.href, { database, user, password: password || databasePassword || '' });
}

export function urlOf(
  postgres: string,
  { database, user, password }: Partial<Record<'database' | 'user' | 'password', string>>,
): string {
  const url = new URL(postgres);
  if (database !== undefined) url.pathname = encodeURIComponent(database);
  if (user !== undefined) url.username = encodeURIComponent(user);
  if (password !== undefined) url.password = encodeURIComponent(password);
  return url.href;
}

/** Whatever the server is set to: what is searched is written one way, and secrets of the tests are kept out of its log. */
const SETTINGS = `
set bytea_output = hex; set quote_all_identifiers = off; set password_encryption = 'scram-sha-256'; set log_min_messages = log;
set log_statement = none; set log_min_duration_statement = -1; set log_min_error_statement = panic`;

/** Runs `work` as the superuser, without the time limits of a server: making and dropping databases waits for the disk. */
export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(url);
  client.on('error', () => {}); // reaches the running statement
  await client.connect();
  try {
    await client.query(SETTINGS);
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function makeRole(
  url: string,
  name: string,
  password: string,
  attributes: string,
): Promise<void> {
  await withClient(url, (client) =>
    client.query(`create role ${name} login ${attributes} password ${client.escapeLiteral(password)}`),
  );
}
