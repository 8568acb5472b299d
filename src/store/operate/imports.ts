import type pg from 'pg';
import { OAuthError } from '../../rules/common/error.ts';
import type { Client } from '../../rules/request/client.ts';
import { type Offer, parseRequestedScope, refuseWrongDays } from '../../rules/request/scopeRules.ts';
import { sha256 } from '../../secrets/digest.ts';
import { EVENT_GRANT, insertEventsSql } from '../common/auditEvents.ts';
import { CLIENT_COLUMNS, SETTING_COLUMNS } from '../common/clients.ts';
import { deleteSessionsOfUser } from '../common/sessions.ts';
import { SPENDING_LOCK } from '../common/spendingLock.ts';
import { userIdSql } from '../common/users.ts';
import { transaction } from '../database/database.ts';
import { isOneCallersFault } from '../database/errors.ts';
import { findAll, lockForTransaction, queryLong, queryPages, send, write } from '../database/query.ts';
import { statement } from '../database/statement.ts';

// Rows of another service, many at once, each with a verdict: `imported`, or `forced` with the `doubt` that it came with, `unchanged`,
// `skipped`, or the bad field and the reason, as `name: is taken`. A row with a `problem` is not written, but may be there. With
// `update`, what was imported gets the values of the row (`updated`), unless it was changed here since (`newer_here`).
// `offset 0`: see ../common/sessions.ts.

const IMPORT_LOCK = 72_176_306;

/** @property changed a user with another external id, password or status, whose sessions end */
type Written = { readonly n: number; readonly verdict: string; readonly changed?: string | null };

/** One import at a time, again after a conflict with a server. @param columns beside those of every row, as `n`, the line's number */
function importStatement(
  name: string,
  columns: string,
  text: string,
  prepare = async (_: pg.PoolClient, rows: readonly object[], _offer: Offer) => rows,
) {
  const given = `with given as materialized (
  select * from jsonb_to_recordset(@rows::jsonb) as r (n int, problem text, doubt text, update boolean, ${columns})
), `;
  const query = statement<Record<'rows' | 'operator', string>>(name, given + text);
  return (pool: pg.Pool, rows: readonly object[], operator: string, isTrial: boolean, offer: Offer) => {
    const run = () =>
      transaction(pool, async (connection) => {
        await lockForTransaction(connection, IMPORT_LOCK);
        const prepared = JSON.stringify(await prepare(connection, rows, offer));
        const written = await queryLong<Written>(connection, query({ rows: prepared, operator }));
        // A second statement: it sees sign-ins that the first waited for.
        for (const { changed: userId } of written)
          if (userId) await deleteSessionsOfUser(connection, { userId });
        // Payments that found a user or an application unblocked are reserved before.
        await lockForTransaction(connection, SPENDING_LOCK);
        if (isTrial) await send(connection, 'rollback'); // the commit then has nothing to do
        return written;
      });
    return run().catch((error) => (isOneCallersFault(error) ? run() : Promise.reject(error)));
  };
}

const digestOf = (name: string) => `sha256(convert_to(${name}, 'UTF8'))::text`;

const listEnded = statement<{ tokens: boolean }>(
  'import-list-ended',
  `
select ${digestOf(`'client_id ' || client_id`)} as digest from audit_events where kind = 'client_deleted'
 union all select former.digest
  from audit_events e cross join lateral jsonb_array_elements_text(detail -> 'names') former (digest) left join users u using (user_id)
 where kind in ('user_deleted', 'user_updated') and (kind = 'user_deleted' or u.user_id is null or not @tokens
       and former.digest is distinct from ${digestOf(`'login ' || login_key`)}
       and former.digest is distinct from ${digestOf(`'external_id ' || external_id`)})`,
);

/**
 * Finds what the trail names as deleted, or as the former name of a user, which no import brings back; a former name of a user
 * who is there counts unless it was taken back, and only without `tokens`, as another may have it.
 * @returns true for one of such names as `login anna`
 */
export async function loadFormerNames(pool: pg.Pool, tokens: boolean) {
  const found = new Set<string>();
  for await (const page of queryPages<{ digest: string }>(pool, listEnded({ tokens })))
    for (const { digest } of page) found.add(digest);
  return (names: readonly string[]) => found.size > 0 && names.some((name) => found.has(sha256(name)));
}

const WAS_IMPORTED = `exists (select from audit_events where user_id = u.user_id and kind = 'user_imported' offset 0)`;

/** The `last` event that changed an imported user or application, and the detail (`past`) of its last import; null if not imported. */
const pastOf = (subject: 'user' | 'client', id: string, condition = 'r.update') => `left join lateral (
      select (array_agg(kind order by at desc))[1] as last,
             (array_agg(detail order by at desc) filter (where kind = '${subject}_imported'))[1] as past
        from audit_events
       where ${condition} and ${subject}_id = ${id} and kind <> 'exchanged' and kind ~ '^${subject}_|_changed$' and kind <> 'user_signed_out'
         and (detail ->> 'by' = 'import' or kind = '${subject}_updated' and (  -- not in a file, or judged apart
              detail -> 'fields' <@ '["login", "external_id"]' or detail - '{logo,user_limits}'::text[] = '{}')) is not true
      having bool_or(kind = '${subject}_imported')) i on true`;

const lockUsers = write<{ keys: readonly unknown[] }>('import-lock-users')`
  with found as materialized (
    select user_id
      from unnest(@keys::text[]) key
     cross join lateral (select user_id from users where login_key = key offset 0) u
     order by user_id
  )
  select from found f cross join lateral (select from users where user_id = f.user_id offset 0 for no key update) locked`;

/** Writes users, or compares them with those of their logins; a user without an external id gets the row's. */
export const importUsers = importStatement(
  'import-users',
  `login text, key text, name text, external_id text, password_hash text, payment_password_hash text, status text,
   created_at timestamptz, hashes jsonb`,
  `compared as materialized (
  select r.n, r.doubt, r.login, r.key, r.name, r.created_at, r.hashes, u.user_id, last, past, fields,
         coalesce(r.external_id, u.external_id) as external_id,
         case when u.user_id is null or 'password_hash' = any (fields) then r.password_hash else u.password_hash end as password_hash,
         case when u.user_id is null or 'payment_password_hash' = any (fields) then r.payment_password_hash
              else u.payment_password_hash end as payment_password_hash,
         coalesce(case when u.user_id is null or last is not null then r.status end, u.status, 'active') as status,
         case when u.user_id is null and exists (select from users where user_id = ${userIdSql('r.key')} offset 0)
              then 'login: is the id of another user'
              when u.user_id is null and r.problem is not null then r.problem
              when u.external_id is null and exists (select from users where external_id = r.external_id offset 0)
              then 'external_id: is taken by another user'
              when u.user_id is null then null
              when u.external_id is not null and u.external_id is distinct from r.external_id
              then 'login: is taken by a user with another external_id'
              when u.name <> r.name and (u.external_id = r.external_id) is not true
                   and (past -> 'password_hash' = r.hashes -> 'password_hash') is not true  -- perhaps another person
              then 'login: is taken by a user with another name'
              when last is null and exists (  -- an imported user's hash in our own form is newer: of the first sign-in here, or a new one
                select from (values (u.password_hash, r.password_hash),
                                    (u.payment_password_hash, r.payment_password_hash)) h (ours, theirs)
                 where ours is distinct from theirs and (theirs is not null or r.external_id is null)
                   and (ours is null or hash_form(ours) is not null or not ${WAS_IMPORTED}))
              then 'login: is taken by a user with another password'
              when fields = '{}' then 'unchanged'
              when r.problem is not null then r.problem
              when split_part(coalesce(r.password_hash, u.password_hash), '$', -1)
                   = split_part(coalesce(r.payment_password_hash, u.payment_password_hash), '$', -1)
              then 'payment_password_hash: is also the hash of the password: omit it'
              when last <> 'user_imported' and fields <> '{external_id}' then 'newer_here, login: has changed here: ' || last
              end as verdict
    from given r left join lateral (select * from users where login_key = r.key offset 0) u on true
    ${pastOf('user', 'u.user_id')}
   cross join lateral (
      select array_remove(array[case when u.external_id is null and r.external_id is not null then 'external_id' end,
                                case when last is not null and u.name <> r.name then 'name' end,
                                case when last is not null and u.status <> r.status then r.status end], null)
             || array(select key from jsonb_each(r.hashes) where last is not null and value is distinct from past -> key) as fields) f
), written as (
  insert into users (login, login_key, name, external_id, password_hash, payment_password_hash, status, created_at)
  select login, key, name, external_id, password_hash, payment_password_hash, status, coalesce(created_at, clock_timestamp())
    from compared where verdict is null order by n
  on conflict (login_key) do update
     set name = excluded.name, external_id = excluded.external_id, password_hash = excluded.password_hash,
         payment_password_hash = excluded.payment_password_hash, status = excluded.status
   where exists (select from compared c where c.user_id = users.user_id)
  returning user_id, login_key
), logged as (
  ${insertEventsSql(
    {
      kind: `case when c.user_id is not null and last is null then 'user_updated' else 'user_imported' end`,
      user_id: 'w.user_id',
      operator: '@operator',
      detail: `case when c.user_id is null then hashes
    else case when last is null then '{}' else coalesce(past, '{}') || hashes end || jsonb_build_object('fields', fields) end`,
    },
    'written w join compared c on login_key = key',
  )}
)
select c.n, case when c.user_id is not null and fields <> '{name}' then w.user_id end as changed,
       coalesce(verdict, case when w.user_id is null then 'external_id: is taken by another user'
                              when last is null then coalesce('forced, ' || doubt, 'imported')
                              else 'updated, login: ' || array_to_string(fields || doubt, ', ') end) as verdict
  from compared c left join written w on w.login_key = c.key`,
  async (connection, rows) => {
    // The next statement sees what this waits for.
    await lockUsers(connection, { keys: rows.map((row) => (row as { key: string }).key) });
    return rows;
  },
);

const {
  logo: _logo,
  user_limits: _limits,
  ...IN_FILE
} = { ...SETTING_COLUMNS, most_days: 'int', most_sum: 'numeric' };
const SETTINGS = Object.keys(IN_FILE).join(', ');

/** Writes applications with their secrets, or compares them. */
export const importClients = importStatement(
  'import-clients',
  `client_id text, verified boolean, secret_id text, secret_hash bytea, detail jsonb, ${Object.entries(
    IN_FILE,
  )
    .map((setting) => setting.join(' '))
    .join(', ')}`,
  `compared as materialized (
  select r.*, c.revision, fields,
         case when c.client_id is null then r.problem
              when c.verified <> r.verified or last is null and 'secret' = any (fields)
              then 'client_id: is taken by an application with another secret'
              when last is null and fields <> '{active}' and fields <> '{}' then 'client_id: is taken by an application with other settings'
              when last is null or fields = '{}' then 'unchanged'
              when r.problem is not null then r.problem
              when last <> 'client_imported' then 'newer_here, client_id: has changed here: ' || last
              end as verdict
    from given r left join lateral (select * from clients where client_id = r.client_id offset 0) c on true
   cross join lateral (
      select array(select key from jsonb_each(to_jsonb(r))
                    where key = any ('{${SETTINGS}}') and value is distinct from to_jsonb(c) -> key) || array_remove(array[
               case when r.verified and not exists (select from client_secrets s
                         where s.client_id = r.client_id and s.secret_hash = r.secret_hash and not (r.update and retired_at is not null) offset 0)
                    then 'secret' end,
               case when c.status = 'blocked' then 'active' end], null) as fields) f
    ${pastOf('client', 'c.client_id', `r.update and fields <> '{}'`)}
), written as (
  insert into clients (client_id, verified, ${SETTINGS})
  select client_id, verified, ${SETTINGS} from compared where verdict is null order by n
  on conflict (client_id) do update
     set (${SETTINGS}) = (${SETTINGS.replaceAll(/\w+/g, 'excluded.$&')}), status = 'active', revision = clients.revision + 1
   where exists (select from compared c where c.client_id = clients.client_id and c.revision = clients.revision)
  returning client_id
), retired as (
  update client_secrets s set retired_at = clock_timestamp() from compared r join written using (client_id)
   where s.client_id = r.client_id and 'secret' = any (fields) and s.secret_hash <> r.secret_hash and retired_at is null
), secrets as (
  insert into client_secrets (client_id, secret_id, secret_hash)
  select client_id, secret_id, secret_hash from given join written using (client_id) where verified
  on conflict (client_id, secret_hash) do update set retired_at = null
), logged as (
  ${insertEventsSql(
    { kind: `'client_imported'`, client_id: 'client_id', operator: '@operator', detail: 'detail' },
    'given join written using (client_id)',
  )}
)
select c.n, coalesce(verdict, case when w.client_id is null then 'client_id: is taken'
                                   when revision is not null then 'updated, client_id: ' || array_to_string(fields || doubt, ', ')
                                   else coalesce('forced, ' || doubt, 'imported') end) as verdict
  from compared c left join written w using (client_id)`,
);

/** Blocks imported applications that no row names, and that were not changed here since. Each verdict is a `client_id`. */
export const blockOtherClients = importStatement(
  'import-block-others',
  'client_id text',
  `blocked as (
  update clients set status = 'blocked'
   where client_id = any (array(
     select client_id from clients c ${pastOf('client', 'c.client_id', 'true')}
      where status = 'active' and client_id not in (select client_id from given) and last = 'client_imported'))
  returning client_id
), logged as (
  ${insertEventsSql(
    {
      kind: `'client_blocked'`,
      client_id: 'client_id',
      operator: '@operator',
      detail: `'{"by": "import"}'::jsonb`,
    },
    'blocked',
  )}
)
select 0 as n, client_id as verdict from blocked order by 2`,
);

// Like an approval with its exchange at the time of the token. Of a batch the newest token of each authorization is written, in
// the order of keys, like approvals; a row that another transaction has changed meanwhile is judged as it is then.

/** The same as `deriveGrantId`: PostgreSQL's JSON escapes a string like JavaScript's. */
const GRANT_ID = `encode(substr(sha256(convert_to(concat('["', user_id, '",', to_json(r.client_id), ',',
         coalesce(to_json(r.instance_name)::text, 'null'), ']'), 'UTF8')), 1, 16), 'hex')::uuid`;

const lockClients = findAll<{ ids: readonly unknown[] }, Client>('import-lock-clients')`
  select ${CLIENT_COLUMNS} from clients where client_id = any (@ids::text[]) order by client_id for share`;

/** Judges each scope like one that its application requests now, its last days like on the day of its token, and completes it. */
async function judgeScopes(connection: pg.PoolClient, untyped: readonly object[], offer: Offer) {
  const rows = untyped as readonly { client_id: string; scope: string; issued_at: Date }[];
  const ids = new Set(rows.map((row) => row.client_id));
  const clients = await lockClients(connection, { ids: [...ids] });
  const byId = new Map(clients.map((client) => [client.clientId, client]));
  return rows.map((row) => {
    const client = byId.get(row.client_id);
    if (client === undefined) return row;
    try {
      const { rights, scope } = parseRequestedScope(row.scope, { ...offer, defaultLimit: null }, client);
      refuseWrongDays(rights, row.issued_at);
      return { ...row, scope };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return { ...row, refusal: `scope: ${error.rule.replace(/^scope: /, '')}` };
    }
  });
}

/** Writes authorizations with their tokens; a later token, or an update, replaces only an imported one that was neither annulled nor revoked. */
export const importGrants = importStatement(
  'import-grants',
  `key text, external_id text, client_id text, instance_name text, scope text, token_hash bytea, issued_at timestamptz,
   refusal text`,
  `located as materialized (
  select r.*, u.user_id, c.redirect_uri, c.revision as client_revision, l.grant_id,
         case when not is_live(r.issued_at, r.issued_at, null) then 'skipped'
              when r.problem is not null then r.problem
              when u.user_id is null and r.external_id is null then 'login: matches no user'
              when u.user_id is null then 'external_id: matches no user'
              when u.login_key <> r.key then 'login: belongs to a different user than the external_id'
              when r.external_id is null and u.external_id is not null and not ${WAS_IMPORTED}  -- perhaps a newcomer of the provider
              then 'login: belongs to a user with an external_id who was not imported: give both'
              when c.client_id is null then 'client_id: matches no application'
              when i.grant_id <> l.grant_id then 'token: belongs to another authorization'
              when i.grant_id is null and exists (
                select from grants where user_id = u.user_id and token_hash = r.token_hash offset 0)
              then 'token_sha256: belongs to a token that was issued here'
              when g.token_hash is distinct from r.token_hash then r.refusal
              when (g.scope, g.token_issued_at) = (r.scope, r.issued_at) then 'unchanged'
              when not r.update then 'token: exists with another scope or time'
              when g.revoked_at is not null then 'newer_here, token: was revoked here'
              else r.refusal end as verdict, g.token_hash = r.token_hash as is_there
    from given r
    left join lateral (select * from users where external_id = r.external_id union all
                       select * from users where login_key = r.key and r.external_id is null offset 0) u on true
    left join lateral (select * from clients where client_id = r.client_id offset 0) c on true
    left join lateral (select grant_id from imported_tokens where token_hash = r.token_hash offset 0) i on true
    cross join lateral (select ${GRANT_ID} as grant_id) l
    left join lateral (select * from grants where grant_id = l.grant_id offset 0) g on true
), written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash,
                           code_expires_at, confirmed_at, client_revision, token_hash, token_issued_at)
  select distinct on (grant_id) grant_id, user_id, client_id, instance_name, 1, scope, redirect_uri,
         sha256(uuid_send(gen_random_uuid())), issued_at, issued_at, client_revision, token_hash, issued_at
    from located where verdict is null order by grant_id, issued_at desc, n
  on conflict (grant_id) do update
     set revision = g.revision + 1, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_challenge = null, code_expires_at = excluded.code_expires_at,
         confirmed_at = excluded.confirmed_at, client_revision = excluded.client_revision, lowered = false,
         token_hash = excluded.token_hash, token_issued_at = excluded.token_issued_at, last_used_on = null
   where g.revoked_at is null and (g.token_issued_at < excluded.token_issued_at or g.token_hash = excluded.token_hash)
     and exists (select from imported_tokens i where i.grant_id = g.grant_id and i.token_hash = g.token_hash)
  returning grant_id, user_id, client_id, instance_name, scope, token_hash
), kept as (
  insert into imported_tokens (token_hash, grant_id) select token_hash, grant_id from written
  on conflict (grant_id) do update set token_hash = excluded.token_hash
), logged as (
  ${insertEventsSql({ kind: `'imported'`, ...EVENT_GRANT, operator: '@operator' }, 'written')}
)
select r.n, coalesce(verdict, case when w.grant_id is null then 'skipped' when is_there then 'updated, token: scope or time'
                                   else coalesce('forced, ' || doubt, 'imported') end) as verdict
  from located r left join written w using (token_hash)`,
  judgeScopes,
);
