import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { actorsAt } from '../support/account.ts';
import { introspect, obtainToken } from '../support/flow.ts';
import { useDatabase } from '../support/postgres/database.ts';
import { plant } from '../support/postgres/plant.ts';
import { useServer } from '../support/server.ts';

// PostgreSQL's own plans of the hot path. A sequential scan costs little in tests and in a young installation, and too much
// in an old one.

/** Each session sends the plan of each statement to its client, as a notice. */
const EXPLAIN = `
do $$ declare setting text; begin
  foreach setting in array array['session_preload_libraries = auto_explain', 'auto_explain.log_min_duration = 0',
                                 'auto_explain.log_format = json', 'auto_explain.log_level = notice'] loop
    execute format('alter database %I set %s', current_database(), setting);
  end loop;
end $$`;

const ROWS = 20_000;
const FILL = [
  `insert into clients (client_id, name, redirect_uri, verified)
   select 'client ' || n, 'Client', 'x', true from generate_series(1, ${ROWS}) n`,
  `insert into client_secrets (client_id, secret_id, secret_hash)
   select client_id, 'first', sha256(client_id::bytea) from clients`,
  `insert into resources (resource_id, name) select client_id, name from clients`,
  `insert into resource_secrets (resource_id, secret_id, secret_hash)
   select client_id, secret_id, secret_hash from client_secrets`,
  `insert into users (user_id, login, login_key, name)
   select md5(n::text)::uuid, 'login ' || n, 'login ' || n, 'User' from generate_series(1, ${ROWS}) n`,
  `insert into sessions (session_hash, user_id) select sha256(login::bytea), user_id from users`,
  `insert into grants (grant_id, user_id, client_id, revision, scope, redirect_uri, code_hash, code_expires_at, confirmed_at)
   select md5(n || login)::uuid, user_id, 'client ' || n, 1, 'account-info', 'x', sha256(login::bytea), now(), now()
     from users, generate_series(1, 2) n`,
  `insert into imported_tokens (token_hash, grant_id) select sha256(grant_id::text::bytea), grant_id from grants`,
  `insert into rejections (page_hash, expires_at) select token_hash, now() from imported_tokens`,
  `insert into throttles (slot) select generate_series(1, ${ROWS})`,
  `insert into audit_events (kind, user_id, grant_id) select 'exchanged', user_id, grant_id from grants`,
];

const database = await useDatabase();
await plant(database, "load 'auto_explain'", EXPLAIN, ...FILL, 'analyze');
const notices: string[] = [];
database.pool.on('connect', (client) => client.on('notice', ({ message = '' }) => notices.push(message)));
const server = await useServer({ database });

const STATEMENTS = readFileSync(new URL('statements.sql', import.meta.url), 'utf8').split(/^-- /m);
const nameOf = (text: string) =>
  STATEMENTS.find((block) => block.includes(`\n${text.trim()};\n`))?.split('(')[0] ?? text;

/** A user signs in and allows, an application exchanges the code, a resource server asks about the token. */
async function scansOfEach(): Promise<Map<string, string[]>> {
  const { client, user, agent } = await actorsAt(server);
  const resource = await server.createResource();
  notices.length = 0;
  const token = await obtainToken(agent, client, user);
  expect(await introspect(server, resource, token)).toMatchObject({ active: true });
  return new Map(
    notices.map((notice) => {
      const { 'Query Text': text, Plan: plan } = JSON.parse(notice.slice(notice.indexOf('{')));
      const scans = JSON.stringify(plan).matchAll(/"Seq Scan".*?"Relation Name":"(\w+)"/g);
      return [nameOf(text), Array.from(scans, ([, table = '']) => table)];
    }),
  );
}

it('no statement of the hot path has a sequential scan', async () => {
  const scans = await scansOfEach();
  const signIn = ['user-find-by-key', 'session-insert'];
  const page = ['request-find', 'grant-find'];
  const hot = [...signIn, ...page, 'grant-approve', 'grant-exchange', 'token-find'];
  expect([...scans.keys()]).toEqual(expect.arrayContaining(hot));
  expect([...scans].filter(([, tables]) => tables.length > 0)).toEqual([]);
});

it('the test detects a sequential scan if an index is missing', async () => {
  await plant(database, 'drop index sessions_user_id_idx');
  expect((await scansOfEach()).get('session-insert')).toContain('sessions');
});
