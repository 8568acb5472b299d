import type pg from 'pg';
import { OF_GRANT, recordEvents } from '../common/auditEvents.ts';
import { transaction } from '../database/database.ts';
import { isOneCallersFault } from '../database/errors.ts';
import { lockForTransaction, queryLong } from '../database/query.ts';
import { statement } from '../database/statement.ts';

// Rows of another service, many at once, each with a verdict: `imported`, `unchanged`, `skipped`, or the bad field and the
// reason, as `name: is taken`. `offset 0`: see ../common/sessions.ts.

const IMPORT_LOCK = 72_176_306;

/** One import at a time, again after a conflict with a server. @param columns beside `n`, the line's number */
function importing(name: string, columns: string, text: string) {
  const given = `with given as materialized (select * from jsonb_to_recordset(@rows::jsonb) as r (n int, ${columns})), `;
  const made = statement<Record<'rows' | 'operator', string>>(name, given + text);
  return (pool: pg.Pool, rows: readonly object[], operator: string, isTrial: boolean) => {
    const query = made({ rows: JSON.stringify(rows), operator });
    const run = () =>
      transaction(pool, async (connection) => {
        await lockForTransaction(connection, IMPORT_LOCK);
        const written = await queryLong<{ n: number; verdict: string }>(connection, query);
        if (isTrial) await connection.query('rollback'); // the commit then has nothing to do
        return written;
      });
    return run().catch((error) => (isOneCallersFault(error) ? run() : Promise.reject(error)));
  };
}

/** Writes users, or compares them with those of their logins. */
export const importUsers = importing(
  'import-users',
  `login text, key text, name text, external_id text, password_hash text, payment_password_hash text, status text,
   created_at timestamptz`,
  `written as (
  insert into users (login, login_key, name, external_id, password_hash, payment_password_hash, status, created_at)
  select login, key, name, external_id, password_hash, payment_password_hash, status, coalesce(created_at, clock_timestamp())
    from given order by n
  on conflict do nothing returning user_id, login_key
), logged as (
  ${recordEvents({ kind: `'user_imported'`, user_id: 'user_id', operator: '@operator' }, 'written')}
)
select r.n, case when w.user_id is not null then 'imported'
                 when u.user_id is null then 'external_id: is taken by another user'
                 when u.external_id is distinct from r.external_id then 'login: is taken by a user with another external_id'
                 when u.name <> r.name then 'login: is taken by a user with another name'
                 when exists (  -- an imported user's hash in our own form is newer: of the first sign-in here, or a new one
                   select from (values (u.password_hash, r.password_hash),
                                       (u.payment_password_hash, r.payment_password_hash)) h (ours, theirs)
                    where ours is distinct from theirs and (ours is null or hash_form(ours) is not null or not exists (
                      select from audit_events where user_id = u.user_id and kind = 'user_imported' offset 0)))
                 then 'login: is taken by a user with another password'
                 else 'unchanged' end as verdict
  from given r left join written w on w.login_key = r.key
  left join lateral (select * from users where login_key = r.key offset 0) u on true`,
);

/** Writes applications with their secrets, or compares them. */
export const importClients = importing(
  'import-clients',
  `client_id text, name text, redirect_uri text, verified boolean, allowed_rights text[], most_days int, most_sum numeric,
   site text, reviewed boolean, secret_id text, secret_hash bytea, detail jsonb`,
  `written as (
  insert into clients (client_id, name, redirect_uri, verified, allowed_rights, most_days, most_sum, site, reviewed)
  select client_id, name, redirect_uri, verified, allowed_rights, most_days, most_sum, site, reviewed from given order by n
  on conflict do nothing returning client_id
), secrets as (
  insert into client_secrets (client_id, secret_id, secret_hash)
  select client_id, secret_id, secret_hash from given join written using (client_id) where verified
), logged as (
  ${recordEvents(
    { kind: `'client_imported'`, client_id: 'client_id', operator: '@operator', detail: 'detail' },
    'given join written using (client_id)',
  )}
)
select r.n, case when w.client_id is not null then 'imported'
                 when c.verified <> r.verified or r.verified and s.client_id is null
                 then 'client_id: is taken by an application with another secret'
                 when (c.name, c.redirect_uri, c.allowed_rights, c.most_days, c.most_sum, c.site, c.reviewed) is distinct from
                      (r.name, r.redirect_uri, r.allowed_rights, r.most_days, r.most_sum, r.site, r.reviewed)
                 then 'client_id: is taken by an application with other settings'
                 else 'unchanged' end as verdict
  from given r left join written w using (client_id) left join clients c using (client_id)
  left join client_secrets s on s.client_id = r.client_id and s.secret_hash = r.secret_hash`,
);

// Like an approval with its exchange at the time of the token. Of a batch the newest token of each authorization is written, in
// the order of keys, like approvals; a row that another transaction has changed meanwhile is judged as it is then.

/** The same as `grantIdFor`: PostgreSQL's JSON escapes a string like JavaScript's. */
const GRANT_ID = `encode(substr(sha256(convert_to(concat('["', user_id, '",', to_json(r.client_id), ',',
         coalesce(to_json(instance_name)::text, 'null'), ']'), 'UTF8')), 1, 16), 'hex')::uuid`;

/** Writes authorizations with their tokens; a later token replaces only an imported one that was neither annulled nor revoked. */
export const importGrants = importing(
  'import-grants',
  'key text, external_id text, client_id text, instance_name text, scope text, token_hash bytea, issued_at timestamptz',
  `located as materialized (
  select r.*, u.user_id, c.redirect_uri, c.revision as client_revision, ${GRANT_ID} as grant_id,
         case when not is_live(issued_at, issued_at, null) then 'skipped'
              when user_id is null and key is null then 'external_id: is of no user'
              when user_id is null then 'login: is of no user'
              when c.client_id is null then 'client_id: is of no application'
              when i.grant_id <> ${GRANT_ID} then 'token: belongs to another authorization' end as problem
    from given r
    left join lateral (select user_id from users where login_key = r.key union all
                       select user_id from users where external_id = r.external_id offset 0) u on true
    left join lateral (select * from clients where client_id = r.client_id offset 0) c on true
    left join lateral (select grant_id from imported_tokens where token_hash = r.token_hash offset 0) i on true
), written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri, code_hash,
                           code_expires_at, confirmed_at, client_revision, token_hash, token_issued_at)
  select distinct on (grant_id) grant_id, user_id, client_id, instance_name, 1, scope, redirect_uri,
         sha256(uuid_send(gen_random_uuid())), issued_at, issued_at, client_revision, token_hash, issued_at
    from located where problem is null order by grant_id, issued_at desc, n
  on conflict (grant_id) do update
     set revision = g.revision + 1, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_challenge = null, code_expires_at = excluded.code_expires_at,
         confirmed_at = excluded.confirmed_at, client_revision = excluded.client_revision, lowered = false,
         token_hash = excluded.token_hash, token_issued_at = excluded.token_issued_at, last_used_on = null
   where g.revoked_at is null and g.token_issued_at < excluded.token_issued_at
     and exists (select from imported_tokens i where i.grant_id = g.grant_id and i.token_hash = g.token_hash)
  returning grant_id, user_id, client_id, instance_name, scope, token_hash
), kept as (
  insert into imported_tokens (token_hash, grant_id) select token_hash, grant_id from written
  on conflict (grant_id) do update set token_hash = excluded.token_hash
), logged as (
  ${recordEvents({ kind: `'imported'`, ...OF_GRANT, operator: '@operator' }, 'written')}
)
select r.n, case when problem is not null then problem
                 when w.grant_id is not null then 'imported'
                 when g.token_hash is distinct from r.token_hash then 'skipped'
                 when (g.scope, g.token_issued_at) <> (r.scope, r.issued_at) then 'token: is there with another scope or time'
                 else 'unchanged' end as verdict
  from located r left join written w using (token_hash)
  left join lateral (select * from grants where grant_id = r.grant_id offset 0) g on true`,
);
