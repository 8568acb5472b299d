import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/operations/doctor.ts';
import { MAX_CODE_SECONDS, MAX_SESSION_HOURS } from '../../src/rules/common/lifetimes.ts';
import { AUDIT_KINDS } from '../../src/store/common/auditEvents.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { findBroken, loadInvariantQueries } from '../../src/store/schema/invariants.ts';
import { TABLES } from '../../src/store/schema/serverRole.ts';
import { follow } from '../support/account.ts';
import {
  confirm,
  decide,
  leadsTo,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { createDatabase, createRole, ownDatabase, type TestDatabase } from '../support/postgres/database.ts';
import { plant } from '../support/postgres/plant.ts';
import { withClient } from '../support/postgres/postgres.ts';
import { commandsOf } from '../support/process/commands.ts';
import { onDatabase } from '../support/process/process.ts';
import { startServer } from '../support/server.ts';
import { doctor, troublesIn } from './findings.ts';

// The server is closed before its database is copied, because only a database without connections can be a template.
const database = await createDatabase();
const pool = openDatabase(database.url);
const server = await startServer({ database: { ...database, pool } });
const { json } = commandsOf(database);
afterAll(() => database.drop());

const client = await server.createClient();
const lowering = await server.createClient({ userLimits: true });
const user = await server.createUser();
const other = await server.createUser();
const agent = new Agent(server.baseUrl);

const TILL = 'касса "1" \\';

/** A working day: every transition, twice if it is repeatable. */
async function beBusy(): Promise<void> {
  const { clientId: client_id, clientSecret } = client;
  const spending = { scope: 'payment-shop.limit(7,1500)', instance_name: 'till "1" \\ ключ' };
  await decide(agent, await reachConsent(agent, requestOf(client, spending), user), 'reject');
  const till = { scope: 'payment-shop.limit(7,1500)', instance_name: TILL };
  for (let times = 0; times < 2; times += 1) await obtainToken(agent, client, user, till);
  const token = await obtainToken(agent, client, user, { instance_name: 'given back' });
  const form = { token, client_id, client_secret: clientSecret ?? '' };
  expect((await agent.post('/oauth/revoke', form)).status).toBe(200);
  const code = await obtainCode(agent, requestOf(client, { instance_name: 'replayed' }), user);
  for (const status of [200, 400])
    expect((await agent.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(status);
  await obtainCode(agent, requestOf(client, { instance_name: 'not used' }), user);
  const again = { instance_name: 'given back and given again' };
  const first = await obtainToken(agent, client, user, again);
  expect((await agent.post('/oauth/revoke', { ...form, token: first })).status).toBe(200);
  await obtainToken(agent, client, user, again);
  const lower = { scope: 'payment-shop.limit(7,1500)', instance_name: 'lowered' };
  const page = await reachConsent(agent, requestOf(lowering, lower), user);
  const pressed = await agent.submit(page, 'decision', { decision: 'allow', limit_0: '100' });
  const confirmed = await confirm(agent, await follow(agent, pressed), user.paymentPassword);
  expect(leadsTo(confirmed, '/oauth/receipt')).toBe(true);
  const grants = await json<Record<string, string>[]>(`grant list --client ${client_id}`);
  const grant = grants.find(({ instance_name }) => instance_name === TILL);
  for (const sum of [900, 800])
    await json(`grant lower ${grant?.grant_id} --scope payment-shop.limit(7,${sum})`);
  await obtainToken(new Agent(server.baseUrl), client, other);
  await json(`client update ${client_id} --name "Another Shop"`);
  await json(`user block ${other.login}`);
}

await beBusy();
await server.close();
await pool.end();

const named = (instance: string) => `instance_name = '${instance}'`;
const setGrants = (set: string, whose = 'token_hash is not null') =>
  `update grants set ${set} where ${whose}`;
const forget = (kind: string, instance: string) =>
  `delete from audit_events where kind like '${kind}' and ${named(instance)}`;
const UNENDING_TOKENS = `create or replace function is_live(code_expires_at timestamptz, token_issued_at timestamptz, revoked_at timestamptz)
  returns boolean language sql volatile return revoked_at is null`;

const READ_BY_INDEX = `do $$ declare setting text; begin
  foreach setting in array '{enable_hashagg,enable_sort}'::text[] loop
    execute format('alter database %I set %I = off', current_database(), setting);
  end loop; end $$`;

/** Inserts a row again, unknown to its index, into a table that seems large. */
const BEHIND_INDEX = (index: string) => {
  const [table = ''] = index.split('_');
  const columns = table === 'users' ? 'login, login_key, external_id' : `${table.slice(0, -1)}_id`;
  const others = table === 'clients' ? ', redirect_uri, verified' : '';
  const isReady = (value: boolean) =>
    `update pg_index set indisready = ${value} where indrelid = '${table}'::regclass and indexrelid <> 'users_pkey'::regclass`;
  return [
    isReady(false),
    `insert into ${table} (name, ${columns}${others}) select 'Twice', ${columns}${others} from ${table}
      ${table === 'users' ? `where login = '${other.login}'` : 'limit 1'}`,
    ...(index === 'users_login_key_key' ? [`update users set external_id = null where name = 'Twice'`] : []),
    ...(index === 'users_external_id_idx' ? [`update users set login_key = 'x' where name = 'Twice'`] : []),
    isReady(true),
    `vacuum analyze ${table}`,
    READ_BY_INDEX,
  ];
};

const DOUBLED = ['users_login_key_key', 'users_external_id_idx', 'clients_pkey', 'resources_pkey'];
const CONTRADICTIONS = [
  'payment-shop.limit(1,10) account-info payment-shop.limit(1,1000000)',
  'money-source("card") money-source("wallet")',
  'payment-p2p payment.to-account("41")',
  'payment-p2p.limit(1,10) payment-p2p.limit(1,1000000)',
  'payment-shop.limit(,100) payment.to-account("x")',
  'payment.to-pattern("a b") payment-shop',
  'payment.to-pattern("1").limit(,5) payment.to-account("2").limit(1,5)',
  'payment-shop.limit(,5) operation-history',
  'payment.to-account("a\u202eb")',
];

/** The statements of each fault, by the check that finds it and a description. */
const FAULTS: Readonly<Record<string, string | readonly string[]>> = {
  'privileges: a role that may delete grants': 'grant delete on grants to pg_monitor',
  'privileges: a column that every role may change': 'grant update (scope) on grants to public',
  'payment_totals: a payment that is not in the total of the next': `
    insert into payment_reservations (grant_id, budget, paid_at, key, payment_hash, amount, total, days, token_issued_at)
    select grant_id, sha256('b'), at, at::text, sha256('p'), 5, total, 7, now()
      from (select grant_id from grants limit 1) g, (values (now(), 5), (now() + interval '1 minute', 20)) p (at, total)`,
  'owners: a function of another owner': 'alter function is_live owner to pg_monitor',
  'grant_keys: a grant_id of another instance': setGrants(`instance_name = 'mine'`, named('replayed')),
  'grant_doubles: two grants with one id, one of them missing in the index': [
    `update pg_index set indisready = false where indexrelid = 'grants_pkey'::regclass`,
    'insert into grants select * from grants limit 1',
    `update pg_index set indisready = true where indexrelid = 'grants_pkey'::regclass`,
    // As on a large table, where the query would read the index alone.
    'vacuum analyze grants',
    READ_BY_INDEX,
  ],
  ...Object.fromEntries(
    DOUBLED.map((index) => [
      `identifier_doubles: a duplicate row that is missing in the index ${index}`,
      [
        `update users set external_id = 'theirs' where login = '${other.login}'`,
        `insert into resources (resource_id, name) values ('api', 'API')`,
        ...BEHIND_INDEX(index),
      ],
    ]),
  ),
  'grant_hashes: a plaintext code': setGrants(
    `code_hash = 'assent_ac_0123456789012345678901'`,
    named('replayed'),
  ),
  'grant_hashes: a token that is not a digest': [
    'alter table grants drop constraint grants_token_hash_check',
    setGrants(`token_hash = 'abc'`),
  ],
  'grant_times: a token issued in the future': setGrants(`token_issued_at = now() + interval '1 year'`),
  'grant_times: a token older than its approval': setGrants(
    `token_issued_at = token_issued_at - interval '1 day'`,
  ),
  'grant_lifetimes: a token past its lifetime': [
    setGrants(`token_issued_at = now() - interval '4 years'`),
    UNENDING_TOKENS,
  ],
  'grant_lifetimes: a code that lives for a day': setGrants(
    `code_expires_at = now() + interval '1 day'`,
    'token_hash is null and revoked_at is null',
  ),
  'instance_names: a name with a right-to-left override': setGrants(`instance_name = U&'a\\202Eb'`),
  ...Object.fromEntries(
    CONTRADICTIONS.map((scope) => [`grant_rights: invalid scope ${scope}`, setGrants(`scope = '${scope}'`)]),
  ),
  'password_twins: one hash for both passwords': `update users set payment_password_hash = password_hash where login = '${user.login}'`,
  'trail_of_grants: a grant without an approval': forget('approved%', 'replayed'),
  'trail_of_tokens: a live token without an exchange': forget('exchanged', TILL),
  'trail_of_revocations: a revocation without an event': setGrants(
    'revoked_at = now(), revision = revision + 1',
    named('not used'),
  ),
  'revived: a revoked token that is live again': setGrants('revoked_at = null', named('given back')),
  'revived: a replayed code whose token is live again': setGrants('revoked_at = null', named('replayed')),
  'trail_of_scopes: a scope wider than its approval': setGrants(
    `scope = 'payment-shop.limit(7,9500)'`,
    named(TILL),
  ),
  'trail_of_exchanges: two exchanges after one approval': `insert into audit_events (kind, grant_id, user_id)
    select 'exchanged', grant_id, user_id from grants where ${named(TILL)}`,
  'trail_of_exchanges: an exchange without an approval': [
    `insert into audit_events (at, kind, grant_id, user_id)
     select greatest(date_trunc('month', now() at time zone 'UTC') at time zone 'UTC', now() - interval '3 days') + interval '1 hour', 'exchanged', grant_id, user_id from grants where ${named('not used')}`,
    forget('approved%', 'not used'),
  ],
  'revisions: a grant without its first approval': forget('approved', TILL),
  'orphans: a grant without its user': `delete from users where login = '${other.login}'`,
  'other_hashes: a plaintext secret': `update client_secrets set secret_hash = '01234567890123456789012345678901'`,
  'password_hashes: plaintext password': `update users set password_hash = 'secret' where login = '${other.login}'`,
  'sessions_of_blocked: a session of a blocked user': `insert into sessions (session_hash, user_id)
    select sha256('x'), user_id from users where status = 'blocked'`,
  'session_times: a session used in the future': `update sessions set seen_at = 'infinity'`,
  'left_behind: expired rows': `insert into rejections values (sha256('x'), now() - interval '2 days')`,
  'tokens_in_trail: a token in the audit trail': `insert into audit_events (kind, detail)
    values ('signed_in', jsonb_build_object('x', 'assent_at_' || repeat('A', 64)))`,
  'tokens_in_refusals: a code in a refusal': `insert into refusals (at, reference, method, path, status, error, rule)
    values (now(), 'r', 'GET', '/x?code=assent_ac_' || repeat('A', 64), 400, 'e', 'r')`,
  'trail_times: an event in the future': `insert into audit_events (at, kind) values (now() + interval '1 hour', 'signed_in')`,
  'trail_months: an event outside the monthly partitions, after a loss of statistics': [
    `insert into audit_events (at, kind) values ('2016-01-01', 'signed_in')`,
    `select pg_stat_reset()`,
  ],
  'trail_kinds: an event of an unknown kind': `insert into audit_events (kind) values ('granted')`,
};

/** Valid states of a trail after years, after an import, or in a test. */
const HARMLESS: Readonly<Record<string, string | readonly string[]>> = {
  'events with equal times': 'update audit_events set at = (select max(at) from audit_events)',
  'users and grants older than the audit trail, whose first approvals were pruned': [
    `update users set created_at = '2019-01-01'`,
    `update clients set created_at = '2019-01-01'`,
    `delete from audit_events a using grants g where a.grant_id = g.grant_id and a.at < g.confirmed_at - interval '1 millisecond'`,
  ],
  'rights that look alike and don’t contradict each other': [
    setGrants(
      `scope = 'payment.to-pattern("payment-shop") payment.to-pattern("b c").limit(7,5) payment.to-account("1","phone") payment.to-account("1") account-info money-source("card","wallet")'`,
    ),
    `update audit_events a set scope = g.scope from grants g where g.grant_id = a.grant_id`,
  ],
  'a user who was removed with all grants': [
    `delete from sessions where user_id in (select user_id from users where login = '${other.login}')`,
    `delete from grants where user_id in (select user_id from users where login = '${other.login}')`,
    `delete from users where login = '${other.login}'`,
  ],
};

const PATIENCE_SECONDS = 60;
const FILE = readFileSync(new URL('../../deploy/postgresql/invariants.sql', import.meta.url), 'utf8');

const examine = (url: string) => doctor(onDatabase(url), '--invariants');

describe('assent doctor --invariants', () => {
  it('accepts a database after normal use, also if it runs as the server role', async () => {
    expect((await examine(database.url)).troubles).toEqual({});
    const role = await createRole();
    await json(`migrate --server-role ${role.name}`);
    const { code, troubles } = await examine(role.urlOf(database));
    expect([code, troubles]).toEqual([0, {}]);
  });

  it.each(Object.entries(HARMLESS))('accepts %s', async (_what, statements) => {
    expect(await troublesAfter(statements)).toEqual({});
  });

  it.each(Object.entries(FAULTS))('names the check that finds a fault (%s)', async (fault, statements) => {
    expect(await troublesAfter(statements)).toHaveProperty(checkOf(fault));
  });

  it('exits with 1 and names a faulty row; psql with invariants.sql finds the same rows', async () => {
    const copy = await copied(setGrants('revision = 7', named('not used')));
    const { code, troubles, found: examined } = await examine(copy.url);
    expect([code, troubles]).toEqual([1, { revisions: 'error' }]);
    expect(examined.revisions?.text).toMatch(/^1 grants .+, such as [0-9a-f-]{36}$/);
    const results = await withClient(copy.url, (client) => client.query<object>(FILE));
    const lines = [results].flat().flatMap(({ rows }) => rows as { finding: string }[]);
    const found = await findBroken(copy.pool, PATIENCE_SECONDS);
    expect(lines).toHaveLength(found.length);
    const said = found.map(({ text, ...finding }) => expect.objectContaining({ ...finding, finding: text }));
    expect(lines).toEqual(expect.arrayContaining(said));
  });

  it('reports a check that lacks privileges as an error', async () => {
    const role = await createRole();
    const copy = await copied(
      `grant select on all tables in schema public to ${role.name}`,
      `revoke select on refusals from ${role.name}`,
    );
    const { code, troubles, found } = await examine(role.urlOf(copy));
    const all = { tokens_in_trail: 'error', tokens_in_refusals: 'error', trail_times: 'error' };
    expect([code, troubles]).toEqual([1, expect.objectContaining(all)]);
    expect(found.tokens_in_refusals?.text).toBe('not checked: permission denied for table refusals');
  });

  it('covers every table and kind of event, and the longest lifetimes of codes and sessions', () => {
    const [, tables = ''] = /any \('{([^}]+)}'::regclass/.exec(FILE) ?? [];
    expect(tables.match(/\w+/g)).toEqual(TABLES.map(({ name }) => name));
    const [, kinds = ''] = /kind not in \(([^)]+)\)/.exec(FILE) ?? [];
    expect([...kinds.matchAll(/\w+/g)].map(([kind]) => kind)).toEqual(AUDIT_KINDS);
    const lifetimes = [...FILE.matchAll(/interval '(\d+) seconds' \+ interval '10 seconds'/g)];
    expect(lifetimes.map(([, seconds]) => Number(seconds))).toEqual([MAX_CODE_SECONDS, MAX_CODE_SECONDS]);
    expect(FILE).toContain(`created_at + interval '${MAX_SESSION_HOURS} hours'`);
  });

  it('is tested with a broken row for each check', async () => {
    const { questions } = await loadInvariantQueries();
    const checks = ['privileges', ...questions.flatMap(({ checks }) => checks)];
    expect(new Set(Object.keys(FAULTS).map(checkOf))).toEqual(new Set(checks));
  });
});

const checkOf = (fault: string) => fault.replace(/:.*/s, '');

async function copied(...statements: string[]): Promise<TestDatabase> {
  const copy = await ownDatabase(`template ${new URL(database.url).pathname.slice(1)}`);
  await plant(copy, ...statements);
  return copy;
}

async function troublesAfter(statements: string | readonly string[]) {
  const copy = await copied(...[statements].flat());
  const findings = await checkInvariants(copy.pool, PATIENCE_SECONDS);
  await plant(copy, 'truncate audit_events, refusals'); // some faults are secrets there, which no test may leave behind
  return troublesIn(findings);
}
