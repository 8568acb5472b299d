-- Invariants of all rows together, for `assent doctor --invariants` and for psql:
--
--   psql -X "$DATABASE_URL" -f deploy/postgresql/invariants.sql
--
-- It only reads, while servers run: one core, only a reader's locks. Each statement is its own transaction, so that
-- VACUUM waits for none longer than its time limit. A statement reads its rows once, lists under `broken` each row that violates
-- an invariant, and prints a line for each of its checks. A table is never read once for each row of another, whatever the
-- statistics say.
--
-- Two times of one event may differ by 10 seconds, the longest time of a statement; a clock may be set back by 5 minutes.

set default_transaction_read_only = on;
set standard_conforming_strings = on;
set max_parallel_workers_per_gather = 0;
set work_mem = '128MB';
set enable_nestloop = off;
set statement_timeout = '60s';

-- Owners: whoever owns a table, a partition or a function may change it.
with checks (name, level, holds, fails, remedy) as (values
  ('owners', 'error', 'one role owns all tables and functions', 'tables or functions have another owner than schema_migrations',
   'run reassign owned, so that one role owns it all')
), tables as (
  select oid, relowner from pg_class where oid = any ('{
    schema_migrations, settings, clients, client_secrets, client_logos, users, sessions, grants, imported_tokens, payment_reservations, notify_cursors, rejections,
    audit_events, resources, resource_secrets, throttles, operators, operator_sessions, refusals}'::regclass[])
), ours (name, owner) as (
  select oid::regclass::text, relowner from tables
  union all
  select inhrelid::regclass::text, c.relowner from tables join pg_inherits on inhparent = tables.oid join pg_class c on c.oid = inhrelid
  union all
  select p.oid::regprocedure::text, proowner from tables join pg_trigger on tgrelid = tables.oid join pg_proc p on p.oid = tgfoid
   where not tgisinternal
  union all
  select oid::regprocedure::text, proowner from pg_proc where oid in ('is_live'::regproc, 'may_hold'::regproc)
), broken (name, example) as (
  select distinct 'owners', name from ours where owner <> (select relowner from pg_class where oid = 'schema_migrations'::regclass)
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Single grants. A grant's id is made like in grantIdFor: PostgreSQL's JSON escapes a string like JavaScript's.
-- Lifetimes are computed here independently of is_live.
with checks (name, level, holds, fails, remedy) as (values
  ('grant_keys', 'error', 'each grant has the id of its user, client and instance', 'grants have the id of another key',
   'the row was changed outside Assent: find out who may, and revoke those authorizations'),
  ('grant_times', 'error', 'no token is older than its approval or was issued for an expired code', 'grants have times that no exchange gives',
   'the row was changed outside Assent: find out who may, and revoke those authorizations'),
  ('grant_lifetimes', 'error', 'nothing is live past its lifetime', 'grants live longer than they may',
   'the row was changed outside Assent: find out who may, and revoke those authorizations')
), broken (name, example) as (
  select unnest(array_remove(array[
           case when grant_id <> encode(substr(sha256(convert_to(concat('["', user_id, '",', to_json(client_id), ',',
                                   coalesce(to_json(instance_name)::text, 'null'), ']'), 'UTF8')), 1, 16), 'hex')::uuid
                then 'grant_keys' end,
           case when token_issued_at < confirmed_at - interval '5 minutes' or token_issued_at > code_expires_at + interval '10 seconds'
                  or greatest(confirmed_at, token_issued_at, revoked_at) > clock_timestamp() + interval '5 minutes'
                then 'grant_times' end,
           case when is_live(code_expires_at, token_issued_at, revoked_at)
                 and (code_expires_at > confirmed_at + interval '59 seconds' + interval '10 seconds'
                      or clock_timestamp() > interval '10 seconds' + coalesce(
                           (token_issued_at at time zone 'UTC'
                            + case when token_issued_at < '2018-02-07Z' then interval '6 months' else interval '3 years' end) at time zone 'UTC',
                           code_expires_at))
                then 'grant_lifetimes' end], null)), grant_id::text
    from grants
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Grants with the same key: the primary key forbids it, unless its index is broken. So this must read the table and not the
-- index, which lacks one of the two: neither order nor all columns come from there.
with checks (name, level, holds, fails, remedy) as (values
  ('grant_doubles', 'error', 'no two grants have one key', 'ids belong to several grants',
   'run REINDEX on grants_pkey and compare with the trail which one is right')
), broken (name, example) as (
  select 'grant_doubles', grant_id::text from grants group by grant_id::text having count(revision) > 1
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Users and applications with one login or id: read like these grants.
with checks (name, level, holds, fails, remedy) as (values
  ('identifier_doubles', 'error', 'no two users or applications have one login or id', 'logins or ids belong to several rows',
   'rename or delete one of them, and run REINDEX on its table')
), broken (name, example) as (
  select 'identifier_doubles', 'of the users ' || string_agg(user_id::text, ' and ') from users group by login_key || '' having count(name) > 1
  union all
  select 'identifier_doubles', 'of the users ' || string_agg(user_id::text, ' and ') from users
   where external_id || '' is not null group by external_id || '' having count(name) > 1
  union all
  select 'identifier_doubles', 'of client ' || (client_id || '') from clients group by client_id || '' having count(name) > 1
  union all
  select 'identifier_doubles', 'of resource ' || (resource_id || '') from resources group by resource_id || '' having count(name) > 1
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- What no request could get, and an import before version 21 may have brought. A scope is judged without its texts in quotes.
with checks (name, level, holds, fails, remedy) as (values
  ('instance_names', 'error', 'each live instance name can be seen', 'live grants have an instance name that can''t be seen or typed',
   'revoke these authorizations: assent grant revoke ID'),
  ('grant_rights', 'error', 'no live scope contradicts itself', 'live grants have a scope that no application could request',
   'revoke these authorizations: assent grant revoke ID; the applications ask again'),
  ('password_twins', 'error', 'no hash is that of both passwords', 'users have one hash for both passwords',
   'set other ones: assent user set-password')
), unclear (characters) as (values (
  '[\u0001-\u001F\u007F-\u00A0\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u2000-\u200B\u200E\u200F\u2028-\u202F\u205F-\u206F\u2800\u3000\u3164\uFEFF\uFFA0]')
), scopes (scope, rights, example) as (
  select scope, regexp_replace(scope, '"([^"\\]|\\.)*"', '"', 'g'), min(grant_id::text)
    from grants where is_live(code_expires_at, token_issued_at, revoked_at) group by scope
), broken (name, example) as (
  select 'instance_names', grant_id::text from grants, unclear
   where is_live(code_expires_at, token_issued_at, revoked_at) and (instance_name ~ '^ |  | $|^$' or instance_name ~ characters)
  union all
  select 'grant_rights', example from scopes, unclear
   where scope ~ characters
      or rights ~ '(^| )([a-z0-9-]+)(\.limit\([^)]*\)|\([^)]*\))? (.* )?\2([ (]|\.limit|$)'
      or rights ~ '(^| )payment-p2p' and rights ~ '(^| )payment\.to-account' or rights ~ '(^| )payment-shop' and rights ~ '(^| )payment\.to-pattern'
      or rights ~ 'limit\(,' and rights ~ '(payment.* payment|(^| )(operation|incoming)-)'
  union all
  select 'password_twins', 'user ' || user_id from users where substr(password_hash, 4) = substr(payment_password_hash, 4)
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Grants and their audit events. Events from before the first month are ignored: they were pruned, or older than the
-- trail; a grant is no older than its user and its application. A grant deleted by hand and given again begins twice, and
-- isn't counted. An exchange follows its approval by at most the longest lifetime of a code.
with checks (name, level, holds, fails, remedy) as (values
  ('trail_of_grants', 'error', 'the trail has the approval of each grant', 'grants have no approval in the trail',
   'rows were changed or lost outside Assent: compare with an exported trail and a backup'),
  ('trail_of_tokens', 'error', 'the trail has the exchange of each live token', 'live tokens have no exchange in the trail',
   'rows were changed or lost outside Assent: compare with an exported trail and a backup'),
  ('trail_of_revocations', 'error', 'the trail has each revocation', 'revoked grants have no revocation in the trail',
   'rows were changed or lost outside Assent: compare with an exported trail and a backup'),
  ('trail_of_scopes', 'error', 'each grant has the scope of its last approval or lowering', 'grants have another scope than their last approval or lowering',
   'the row was changed outside Assent: find out who may, and revoke those authorizations'),
  ('trail_of_exchanges', 'error', 'each exchange in the trail has an approval of its own', 'grants were exchanged without an approval of their own',
   'rows were changed or lost outside Assent: compare with an exported trail and a backup'),
  ('revived', 'error', 'what was revoked stays revoked', 'grants were revoked and are not any more',
   'the row was changed outside Assent: find out who may, and revoke those authorizations'),
  ('revisions', 'error', 'each revision is the number of its events', 'grants have another revision than events',
   'rows were changed or lost outside Assent: compare with an exported trail and a backup')
), trail (begins, exchange) as materialized (
  select min(to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM'))::timestamp at time zone 'UTC',
         interval '59 seconds' + interval '10 seconds' + interval '5 minutes'
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'audit_events'::regclass
), events as ( -- sorted without scopes
  select grant_id, at, kind, a.scope <> g.scope is not true as is_of_scope,
         kind in ('approved', 'approved_again', 'imported') as approves, kind = 'lowered_by_operator' as lowers,
         kind in ('replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator') as revokes
    from audit_events a join grants g using (grant_id) offset 0
), history as ( -- each event with the last approval until then, and the last exchange before
  select *, coalesce(max(at) filter (where approves) over history, '-infinity') as approved_until,
         max(at) filter (where kind = 'exchanged') over (history rows between unbounded preceding and 1 preceding) as exchanged_before
    from events window history as (partition by grant_id order by at)
), of_grant as (
  select grant_id, count(*) filter (where approves or lowers or revokes) as raised, count(*) filter (where kind in ('approved', 'imported')) as beginnings,
         max(at) filter (where approves) as approved_at, max(at) filter (where kind in ('exchanged', 'imported')) as exchanged_at,
         max(at) filter (where revokes) as revoked_at, max(at) filter (where approves or lowers) as scope_at, max(at) filter (where (approves or lowers) and is_of_scope) as scope_so_at,
         bool_or(kind = 'exchanged' and (approved_until < exchanged_before
                 or approved_until < at - (select exchange from trail)
                    and at - (select exchange from trail) > (select begins from trail))) as exchanged_twice
    from history group by grant_id
), since (reliable) as (select begins + interval '5 minutes' from trail
), broken (name, example) as (
  select unnest(array_remove(array[
           case when g.confirmed_at > reliable and coalesce(e.approved_at < g.confirmed_at - interval '5 minutes', true)
                then 'trail_of_grants' end,
           case when g.token_issued_at > reliable and coalesce(e.exchanged_at < g.token_issued_at - interval '5 minutes', true)
                 and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)
                then 'trail_of_tokens' end,
           case when g.revoked_at > reliable and coalesce(e.revoked_at < g.revoked_at - interval '5 minutes', true)
                then 'trail_of_revocations' end,
           case when e.scope_so_at is distinct from e.scope_at then 'trail_of_scopes' end,
           case when e.exchanged_twice then 'trail_of_exchanges' end,
           case when g.revoked_at is null and e.revoked_at > coalesce(e.approved_at, '-infinity') then 'revived' end,
           case when case coalesce(e.beginnings, 0)
                       when 1 then e.raised <> g.revision
                       when 0 then e.raised >= g.revision or greatest(u.created_at, c.created_at) > reliable
                       else false end
                then 'revisions' end], null)), g.grant_id::text
    from grants g left join of_grant e using (grant_id)
         left join (select user_id, created_at from users) u using (user_id)
         left join (select client_id, created_at from clients) c using (client_id)
         cross join since
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Payments that SPENDING counts, in the order of each budget. `assent maintain` removes the oldest first.
with checks (name, level, holds, fails, remedy) as (values
  ('payment_totals', 'error', 'each payment has the total of the one before and its own amount', 'payments have a total that their amounts don''t give',
   'rows were changed or lost outside Assent: find out who may; the budget is right again after the longest period')
), payments_in_order as (
  select grant_id, key, amount, total, lag(total) over (partition by grant_id, budget order by paid_at) as total_before from payment_reservations
), broken (name, example) as (
  select 'payment_totals', grant_id || ' ' || key from payments_in_order where total <> coalesce(total_before + amount, greatest(total, amount))
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Rows without their user or application: foreign keys forbid it, unless they were disabled.
with checks (name, level, holds, fails, remedy) as (values
  ('orphans', 'error', 'whatever is owned has its owner', 'rows have no owner', 'foreign keys were switched off: delete these rows')
), broken (name, example) as (
  select 'orphans', 'grant ' || grant_id from grants g
   where not exists (select from users u where u.user_id = g.user_id)
      or not exists (select from clients c where c.client_id = g.client_id)
  union all
  select 'orphans', 'a session of user ' || user_id from sessions s where not exists (select from users u where u.user_id = s.user_id)
  union all
  select 'orphans', 'a secret of client ' || client_id from client_secrets s
   where not exists (select from clients c where c.client_id = s.client_id)
  union all
  select 'orphans', 'a secret of resource ' || resource_id from resource_secrets s
   where not exists (select from resources r where r.resource_id = s.resource_id)
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Every column with a digest or a password hash. No digest: not 32 bytes, or all of them letters, like a text stored instead
-- (by chance: 1 of 10^14).
with checks (name, level, holds, fails, remedy) as (values
  ('grant_hashes', 'error', 'codes and tokens are stored as digests only', 'grants have a code or token that is no digest',
   'find out what wrote it; revoke or replace what it opens'),
  ('other_hashes', 'error', 'secrets, operators’ tokens, sessions and rejections are stored as digests only', 'rows have a secret that is no digest',
   'find out what wrote it; revoke or replace what it opens'),
  ('password_hashes', 'error', 'passwords are stored as hashes that can be read', 'users have a password that is no hash, or one that can''t be read',
   'set a new one: assent user set-password')
), digests (name, example, digest) as (
  select 'grant_hashes', grant_id::text, unnest(array[code_hash, token_hash]) from grants
  union all select 'other_hashes', 'a secret of client ' || client_id, secret_hash from client_secrets
  union all select 'other_hashes', 'a secret of resource ' || resource_id, secret_hash from resource_secrets
  union all select 'other_hashes', 'the token of operator ' || name, token_hash from operators
  union all select 'other_hashes', 'a session of user ' || user_id, session_hash from sessions
  union all select 'other_hashes', 'a session of an operator', unnest(array[session_hash, token_hash]) from operator_sessions
  union all select 'other_hashes', 'a rejection', page_hash from rejections
), stored (user_id, hash) as (select user_id, unnest(array[password_hash, payment_password_hash]) from users
), broken (name, example) as (
  select name, example from digests
   where octet_length(digest) <> 32
      or get_byte(digest, 0) between 33 and 126 and get_byte(digest, 31) between 33 and 126 and encode(digest, 'escape') ~ '^[!-\[\]-~]*$'
  union all
  select 'password_hashes', 'user ' || user_id from stored
   where hash is not null and readable_form(hash) is null
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- Rows with a lifetime of hours or minutes must expire, and be removed: the server does so each minute.
with checks (name, level, holds, fails, remedy) as (values
  ('sessions_of_blocked', 'error', 'no blocked user has a session', 'sessions are of blocked users', 'run assent user sign-out for them'),
  ('session_times', 'error', 'no session is from the future', 'sessions are from the future and would live too long',
   'set the clock; run assent user sign-out for them'),
  ('left_behind', 'advice', 'what has expired is removed', 'rows expired more than a day ago',
   'run assent maintain, and see why no server does')
), broken (name, example) as (
  select unnest(array_remove(array[
           case when status = 'blocked' then 'sessions_of_blocked' end,
           case when greatest(s.created_at, seen_at) > clock_timestamp() + interval '5 minutes' then 'session_times' end,
           case when s.created_at + interval '12 hours' < clock_timestamp() - interval '1 day' then 'left_behind' end], null)),
         'a session of user ' || user_id
    from sessions s join users u using (user_id)
  union all
  select 'left_behind', 'a rejection' from rejections where expires_at < clock_timestamp() - interval '1 day'
  union all
  select 'left_behind', 'a session of an operator' from operator_sessions where expires_at < clock_timestamp() - interval '1 day'
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);

-- The trail, and texts from outside. A code or token is recognized by its beginning and length, in any column.
with checks (name, level, holds, fails, remedy) as (values
  ('tokens_in_trail', 'error', 'no code or token is in the trail', 'rows of the trail have a code or token in them',
   'find out what wrote it; revoke or replace what it opens'),
  ('tokens_in_refusals', 'error', 'no refusal that is kept has a code or token in it', 'refusals have a code or token in them',
   'find out what wrote it; revoke or replace what it opens'),
  ('trail_times', 'error', 'no row of the trail is from the future', 'rows of the trail are from the future',
   'set the clock of the database; the rows stay'),
  ('trail_months', 'advice', 'each row of the trail is in the partition of its month', 'rows of the trail are in audit_events_rest',
   'run assent maintain as the owner of the tables'),
  ('trail_kinds', 'advice', 'this build knows all that is in the trail', 'rows of the trail are of a kind that this build does not know',
   'a newer build wrote them, or somebody by hand')
), texts (name, example, said, at, kind, part) as (
  select 'tokens_in_trail', at::text,
         concat_ws(' ', kind, client_id, instance_name, scope, limits, address, reference, operator, resource_id, detail), at, kind, tableoid
    from audit_events
  union all
  select 'tokens_in_refusals', 'refusal ' || slot, concat_ws(' ', reference, method, path, error, rule), null, null, null from refusals
), broken (name, example) as (
  select unnest(array_remove(array[
           case when strpos(said, 'assent_a') > 0 and said ~ 'assent_a[ct]_[A-Za-z0-9_-]{64}' then name end,
           case when at > clock_timestamp() + interval '5 minutes' then 'trail_times' end,
           case when part = 'audit_events_rest'::regclass then 'trail_months' end,
           case when kind not in (
             'approved', 'approved_again', 'rejected', 'exchanged', 'ends_soon', 'right_expired', 'expired', 'replayed', 'revoked_by_user', 'revoked_by_application',
             'revoked_by_operator', 'lowered_by_operator', 'signed_in', 'signed_out', 'session_ended', 'other_sessions_ended',
             'password_changed', 'payment_password_changed', 'password_guessed', 'payment_password_guessed', 'imported', 'client_created',
             'client_imported', 'client_updated', 'client_blocked', 'client_unblocked', 'client_deleted', 'client_secret_added', 'client_secret_retired',
             'resource_created', 'resource_blocked', 'resource_unblocked', 'resource_deleted', 'resource_secret_added',
             'resource_secret_retired', 'user_created', 'user_imported', 'user_updated', 'user_blocked', 'user_unblocked', 'user_signed_out', 'user_password_set',
             'user_looked_at', 'user_deleted', 'trail_pruned', 'server_role_granted', 'operator_created', 'operator_retired') then 'trail_kinds' end], null)), example
    from texts
), found as (select name, count(*)::int as rows, min(example) as example from broken group by name)
select name as check, coalesce(rows, 0) as rows, example, coalesce(rows || ' ' || fails || ', such as ' || example, holds) as finding,
       case when rows > 0 then remedy end as remedy, case when rows > 0 then level else 'ok' end as level
  from checks left join found using (name);
