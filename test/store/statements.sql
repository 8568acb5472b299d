-- 'select c.relnamespace::regnamespace::text as schema, quote_i…'(name) → schema text, database text, isOurs boolean
select c.relnamespace::regnamespace::text as schema, quote_ident(datname) as database,
         pg_has_role(datdba, 'usage') as "isOurs"
    from pg_roles r, pg_class c, pg_database d
   where r.rolname = $1 and c.oid = 'audit_events'::regclass and datname = current_database();

-- 'select coalesce(sum(rows), 0)::float8 as rows, string_agg(mo…'(integer) → rows double precision, months text
select coalesce(sum(rows), 0)::float8 as rows, string_agg(month, ', ' order by month) as months from (
  select to_char(at at time zone 'UTC', 'YYYY-MM') as month, count(*) as rows from audit_events
   where at < (select (date_trunc('month', clock_timestamp() at time zone 'UTC') - make_interval(months => $1)) at time zone 'UTC') group by 1) old;

-- 'select count(*)::int as strays from audit_events_rest…'() → strays integer
select count(*)::int as strays from audit_events_rest;

-- 'select current_setting('server_version_num')::int as "versio…'(numeric) → versionNumber integer, version text, encoding text, isStandby boolean, readOnly boolean, fsync boolean, fullPageWrites boolean, synchronousCommit text, skewSeconds double precision, role name
select current_setting('server_version_num')::int as "versionNumber",
         current_setting('server_version') as version,
         current_setting('server_encoding') as encoding,
         pg_is_in_recovery() as "isStandby",
         current_setting('transaction_read_only') = 'on' as "readOnly",
         current_setting('fsync') = 'on' as fsync,
         current_setting('full_page_writes') = 'on' as "fullPageWrites",
         current_setting('synchronous_commit') as "synchronousCommit",
         abs(extract(epoch from clock_timestamp()) - $1)::float8 as "skewSeconds",
         current_user as role;

-- 'select distinct g.grant_id as id, g.user_id as "userId" from…'(uuid[], timestamp with time zone[], boolean[], text[]) → id uuid, userId uuid
select distinct g.grant_id as id, g.user_id as "userId"
  from unnest($1::uuid[], $2::timestamptz[], $3::boolean[], $4::text[]) with ordinality as input (grant_id, at, is_approval, lowered, n) join grants g using (grant_id)
 where g.confirmed_at < input.at - case when is_approval then interval '10 seconds' else interval '0' end
   and input.lowered is distinct from g.scope and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at);

-- 'select format('indexes were made with version %s of the data…'() → text text, remedy text
select format('indexes were made with version %s of the database''s collation, which is %s now', datcollversion, now) as text,
         format('run REINDEX DATABASE %1$I as the owner, and only then ALTER DATABASE %1$I REFRESH COLLATION VERSION', datname) as remedy
    from pg_database, pg_database_collation_actual_version(oid) as now
   where datname = current_database() and datcollversion <> now;

-- 'select grant_id as "grantId" from ( select g.*, e.ends_at, c…'(timestamp with time zone, timestamp with time zone) → grantId uuid
select grant_id as "grantId" from (
  select g.*, e.ends_at, case when e.ends_at <= $1::timestamptz then e.kind else 'ends_soon' end as due
    from grants g
    cross join lateral (select (g.token_issued_at at time zone 'UTC' + case when g.token_issued_at < '2018-02-07T00:00:00Z'
                  then interval '6 months' else interval '36 months' end) at time zone 'UTC' as ends_at) token
    cross join lateral (select 'expired' as kind, token.ends_at
      union all select 'right_expired', (day + 1)::timestamp at time zone 'UTC' from (select distinct day[1]::date from regexp_matches(regexp_replace(g.scope, '"([^"\\]|\\.)*"', '', 'g'), '\.until\(([0-9-]+)\)', 'g') as found(day)
    where position('.until(' in g.scope) > 0) of_rights(day)) e
   where g.token_issued_at is not null and g.revoked_at is null and (position('.until(' in g.scope) > 0 or g.token_issued_at < '2018-02-07T00:00:00Z'
    or g.token_issued_at between $2::timestamptz - interval '36 months 5 days'
                             and $1::timestamptz - interval '36 months' + interval '35 days') and (e.kind = 'expired' or e.ends_at < token.ends_at)
     and (e.ends_at > $2::timestamptz and e.ends_at <= $1::timestamptz
       or e.ends_at - interval '30 days' > $2::timestamptz
      and e.ends_at - interval '30 days' <= $1::timestamptz
      and (e.kind = 'expired' or e.ends_at - interval '60 days' > g.confirmed_at))) g;

-- 'select name, to_char(month, 'YYYY-MM') as month from ( selec…'(integer) → name name, month text
select name, to_char(month, 'YYYY-MM') as month from (
         select inhrelid as id, relname as name,
                to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM') as month
           from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'audit_events'::regclass) as partitions
   where month < date_trunc('month', clock_timestamp() at time zone 'UTC') - make_interval(months => $1) order by partitions.month limit 1;

-- 'select name, to_char(month, 'YYYY-MM-DD 00:00Z') as "from", …'() → name text, from text, to text
select name, to_char(month, 'YYYY-MM-DD 00:00Z') as "from",
       to_char(month + interval '1 month', 'YYYY-MM-DD 00:00Z') as "to"
  from generate_series(
         (select least(date_trunc('month', clock_timestamp() at time zone 'UTC'), date_trunc('month', min(at) at time zone 'UTC')) from audit_events_rest
           where at >= (date_trunc('month', clock_timestamp() at time zone 'UTC') - make_interval(months => 37)) at time zone 'UTC'),
         date_trunc('month', clock_timestamp() at time zone 'UTC') + make_interval(months => 12), '1 month') as month,
       to_char(month, '"audit_events_"YYYY_MM') as name
 where to_regclass(name) is null
 order by month limit 1;

-- 'select pg_size_pretty((select sum(pg_total_relation_size(rel…'() → size text, lastMonth text, monthsAhead integer
select pg_size_pretty((select sum(pg_total_relation_size(relid)) from pg_partition_tree('audit_events'))) as size,
       (select pg_size_pretty(pg_total_relation_size(id)) from (
         select inhrelid as id, relname as name,
                to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM') as month
           from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'audit_events'::regclass) as partitions
         where month = date_trunc('month', clock_timestamp() at time zone 'UTC') - interval '1 month') as "lastMonth",
       (select count(*)::int from (
         select inhrelid as id, relname as name,
                to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM') as month
           from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'audit_events'::regclass) as partitions where month > date_trunc('month', clock_timestamp() at time zone 'UTC')) as "monthsAhead";

-- 'select relname as name from pg_class c join pg_namespace n o…'() → name name
select relname as name from pg_class c join pg_namespace n on n.oid = relnamespace
   where nspname = current_schema() and relkind in ('r', 'p') and not exists (
         select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
   order by 1 limit 3;

-- 'select string_agg(quote_ident(attname), ', ') as columns fro…'(regclass, name) → columns text
select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
   where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname is distinct from $2;

-- 'with gone as ( delete from audit_events_rest where at < (dat…'(integer) → month text
with gone as (
    delete from audit_events_rest
     where at < (date_trunc('month', clock_timestamp() at time zone 'UTC') - make_interval(months => $1)) at time zone 'UTC' returning at)
  select distinct to_char(at at time zone 'UTC', 'YYYY-MM') as month from gone;

-- 'with ours as ( select c.oid, relacl, relowner from unnest($1…'(text[]) → role text
with ours as (
  select c.oid, relacl, relowner from unnest($1::text[]) as name join pg_class c on c.oid = name::regclass
  union all
  select c.oid, relacl, relowner from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'audit_events'::regclass)
select distinct case grantee when 0 then 'public' else pg_get_userbyid(grantee)::text end as role
  from ours, lateral (
         select grantee from aclexplode(relacl)
         union all
         select grantee from pg_attribute, aclexplode(attacl) where attrelid = ours.oid and not attisdropped) as given
 where grantee <> relowner order by 1;

-- 'with role (name) as (select coalesce($1, current_user)::name…'(name, jsonb) → lacks boolean, privilege text
with role (name) as (select coalesce($1, current_user)::name), ours (oid, privileges, clocked, changed) as (
  select name::regclass::oid, string_to_array(privileges, ', '), clocked, changed
    from jsonb_to_recordset($2::jsonb) as needed (name text, privileges text, clocked text, changed text)
  union all
  select inhrelid, '{}', null, null from pg_inherits where inhparent = 'audit_events'::regclass
), cells as (
  select ours.oid, privilege, attname, has_column_privilege(role.name, ours.oid, attnum, privilege) as has,
         privilege = any (privileges) and (privilege = 'select' or attname is distinct from clocked)
           and (privilege <> 'update' or coalesce(attname = changed, true)) as needed
    from role, ours join pg_attribute on attrelid = ours.oid and attnum > 0 and not attisdropped,
         unnest('{select,insert,update,references}'::text[]) as privilege
  union all
  select ours.oid, privilege, null, has_table_privilege(role.name, ours.oid, privilege), privilege = any (privileges)
    from role, ours, unnest('{delete,truncate,trigger}'::text[]) as privilege
)
select needed as lacks,
       upper(privilege) || case when count(*) < most then ' (' || string_agg(attname, ', ') || ')' else '' end
         || ' on ' || oid::regclass as privilege
  from (select *, case when needed then count(*) filter (where needed) over place else count(*) over place end as most
          from cells window place as (partition by oid, privilege)) cells
 where has <> needed group by oid, cells.privilege, needed, most order by oid::regclass::text, cells.privilege;

-- 'with role as (select *, quote_ident(rolname) as name from pg…'(name) → what text, remedy text
with role as (select *, quote_ident(rolname) as name from pg_roles where rolname = coalesce($1, current_user)::name),
places (place, name, acl) as (
  select 'schema', nspname, coalesce(nspacl, acldefault('n', nspowner)) from pg_namespace
  union all
  select 'database', datname, coalesce(datacl, acldefault('d', datdba)) from pg_database where datname = current_database())
select format('it has the attribute %s', attribute) as what, format('alter role %s no%s', name, lower(attribute)) as remedy
  from role, lateral (values (rolsuper, 'SUPERUSER'), (rolcreaterole, 'CREATEROLE'), (rolcreatedb, 'CREATEDB'),
                             (rolreplication, 'REPLICATION'), (rolbypassrls, 'BYPASSRLS')) as has (it, attribute)
 where it
union all
select format('it is a member of %I', g.rolname), format('revoke %I from %s', g.rolname, name)
  from role join pg_auth_members m on m.member = role.oid join pg_roles g on g.oid = m.roleid
union all
select distinct case when datname = current_database() or dbid = 0 then 'it owns ' || pg_describe_object(classid, objid, objsubid)
                     else format('it owns something in the database %I; run this there', datname) end,
       format('reassign owned by %s to %I', name, current_user)
  from role join pg_shdepend on refclassid = 'pg_authid'::regclass and refobjid = role.oid and deptype = 'o'
       left join pg_database d on d.oid = dbid
union all
select distinct format('it may create %sin the %s %I', case privilege_type when 'TEMPORARY' then 'temporary tables ' end, place, places.name),
       format('revoke %s on %s %I from %s', lower(privilege_type), place, places.name, case grantee when 0 then 'public' else role.name end)
  from role, places, aclexplode(acl)
 where privilege_type in ('CREATE', 'TEMPORARY') and grantee in (0, role.oid);

-- account-client-find(uuid, text) → clientId text, clientName text, clientLogo text, clientStatus text, lastUsedOn text, live integer, scopes json
select client_id as "clientId", c.name as "clientName", c.logo as "clientLogo", c.status as "clientStatus",
       to_char(used, 'YYYY-MM-DD') as "lastUsedOn", live,
       case when length(scopes::text) <= 32000 then scopes end as scopes
  from (select client_id, count(*)::int as live, max(confirmed_at) as newest, max(last_used_on) as used,
               coalesce(json_agg(scope) filter (where ((position('payment' in scope) > 0 or position('.limit(' in scope) > 0)
     and string_to_array(replace(replace(regexp_replace(scope, '"([^"\\]|\\.)*"', '', 'g'), '.limit(', ' .limit '), '(', ' '), ' ')
     && '{.limit,payment-shop,payment-p2p,payment.to-pattern,payment.to-account}')), '[]') as scopes
          from grants g
         where user_id = $1 and ($2::text is null or client_id = $2) and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)
         group by client_id) counted
  join clients c using (client_id) order by newest desc, client_id;

-- account-grant-find(uuid, text, uuid, uuid, integer) → grantId uuid, userId uuid, clientId text, instanceName text, revision integer, scope text, confirmedAt timestamp with time zone, lastUsedOn text, codeExpiresAt timestamp with time zone, tokenIssuedAt timestamp with time zone, revokedAt timestamp with time zone, now timestamp with time zone, clientName text, clientLogo text, clientStatus text
select g.grant_id as "grantId", g.user_id as "userId", g.client_id as "clientId",
  g.instance_name as "instanceName", g.revision, g.scope, g.confirmed_at as "confirmedAt",
  to_char(g.last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
  g.code_expires_at as "codeExpiresAt", g.token_issued_at as "tokenIssuedAt", g.revoked_at as "revokedAt",
  clock_timestamp() as now, c.name as "clientName", c.logo as "clientLogo", c.status as "clientStatus"
  from grants g join clients c using (client_id)
 where g.user_id = $1 and ($2::text is null or client_id = $2) and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)
   and ($3::uuid is null or grant_id = $3)
   and (g.confirmed_at, g.grant_id) < (
         coalesce((select confirmed_at from grants where user_id = $1 and grant_id = $4), 'infinity'), $4)
 order by g.confirmed_at desc, g.grant_id desc limit $5 + 1;

-- account-is-stopped(uuid, bytea) → nothing
select where not exists (
         select from grants g where user_id = $1 and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at))
   and not exists (
         select from sessions s where s.user_id = $1 and s.session_hash <> $2 and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours'));

-- account-spent-find(jsonb) → grant integer, key text, used text, oldest text, freeAgain timestamp with time zone
select r."grant", r.key, s.used::text, s.oldest::text, s.oldest_at + r.days * interval '24 hours' as "freeAgain"
  from jsonb_to_recordset($1::jsonb)
       as r ("grant" int, key text, grant_id uuid, budget bytea, days int)
  join grants g using (grant_id)
 cross join lateral spent(g.grant_id, r.budget, r.days, g.token_issued_at) s
 where s.used > 0;

-- audit-cursor-now() → oldest text, own text, at text, installation text
select pg_snapshot_xmin(s)::text as oldest, pg_current_xact_id()::text as own,
       (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as at,
       (select (extract(epoch from min(applied_at)) * 1000000)::bigint::text from schema_migrations) as installation
  from pg_current_snapshot() s;

-- audit-find-since-cursor(bigint, bigint, bigint, bigint, bigint, bigint, bigint) → id text, at timestamp with time zone, outcome text, operator text, userId uuid, login text, externalId text, clientId text, clientName text, resourceId text, instanceName text, grantId uuid, scope text, limits jsonb, address text, reference text, detail jsonb, transaction text
select md5(concat_ws(' ', extract(epoch from a.at), a.kind, a.user_id, a.client_id, a.resource_id, a.grant_id, a.reference))
         as id,
       a.at, a.kind as outcome, a.operator, a.user_id as "userId", u.login, u.external_id as "externalId",
       a.client_id as "clientId", c.name as "clientName",
       a.resource_id as "resourceId", a.instance_name as "instanceName", a.grant_id as "grantId", a.scope, a.limits,
       a.address, a.reference, a.detail, a.transaction::text
  from (
select * from (
  select *, $1::bigint - (($1::bigint - xmin::text::bigint) & 4294967295) as transaction from audit_events
   where at >= timestamptz 'epoch' + $2::bigint * interval '1 microsecond' - interval '5 minutes') numbered
 where (transaction >= $3::bigint or at > timestamptz 'epoch' + $4::bigint * interval '1 microsecond' and at <= timestamptz 'epoch' + $5::bigint * interval '1 microsecond')
   and transaction < $6::bigint
 order by transaction fetch first ($7::bigint) rows with ties) a left join users u using (user_id) left join clients c using (client_id)
 order by a.transaction, a.at;

-- audit-owns-tables() → nothing
select from pg_class where oid = to_regclass('audit_events') and pg_has_role(relowner, 'usage');

-- audit-record-act(text, text, text, text, uuid, text, text, jsonb) → nothing
insert into audit_events (kind, operator, address, reference, user_id, client_id, resource_id, detail)
  values ($1, $2, $3, $4, $5, $6, $7, $8);

-- audit-record-look(text, text, text, uuid, jsonb) → nothing
insert into audit_events (kind, operator, address, reference, user_id, detail)
  select 'user_looked_at', $1, $2, $3, $4, $5
   where not exists (select from audit_events where user_id = $4::uuid and kind = 'user_looked_at' and operator = $1
                        and at > clock_timestamp() - interval '1 hour');

-- client-delete(text) → client_id text
delete from clients where client_id = $1 returning client_id;

-- client-find(text[]) → n integer, clientId text, verified boolean, status text, revision integer, createdAt timestamp with time zone, name text, redirectUri text, allowedRights text[], site text, logo text, reviewed boolean, userLimits boolean, oauth21 boolean, eventsUri text, eventsInternal boolean, most json
select n::int as n, client_id as "clientId", verified, status, revision, created_at as "createdAt", name, redirect_uri as "redirectUri", allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, events_uri as "eventsUri", events_internal as "eventsInternal",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most from unnest($1::text[]) with ordinality as input (client_id, n) join clients using (client_id);

-- client-find-all() → clientId text, verified boolean, status text, revision integer, createdAt timestamp with time zone, name text, redirectUri text, allowedRights text[], site text, logo text, reviewed boolean, userLimits boolean, oauth21 boolean, eventsUri text, eventsInternal boolean, most json
select client_id as "clientId", verified, status, revision, created_at as "createdAt", name, redirect_uri as "redirectUri", allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, events_uri as "eventsUri", events_internal as "eventsInternal",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most from clients order by client_id;

-- client-insert(text, boolean, text, text, text[], text, text, boolean, boolean, boolean, text, boolean, json) → nothing
insert into clients (client_id, verified, name, redirect_uri, allowed_rights, site, logo, reviewed, user_limits, oauth21, events_uri, events_internal, most_days, most_sum) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
    ($13::json ->> 'days')::int, ($13::json ->> 'sum')::numeric)
  on conflict do nothing;

-- client-lock(text) → clientId text, verified boolean, status text, revision integer, createdAt timestamp with time zone, name text, redirectUri text, allowedRights text[], site text, logo text, reviewed boolean, userLimits boolean, oauth21 boolean, eventsUri text, eventsInternal boolean, most json
select client_id as "clientId", verified, status, revision, created_at as "createdAt", name, redirect_uri as "redirectUri", allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, events_uri as "eventsUri", events_internal as "eventsInternal",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most from clients where client_id = $1 for no key update;

-- client-logo-delete(text) → nothing
delete from client_logos where client_id = $1;

-- client-logo-find(text[], text[]) → n integer, body text
select n::int as n, encode(body, 'base64') as body
    from unnest($1::text[], $2::text[]) with ordinality as input (client_id, file, n) join client_logos using (client_id, file);

-- client-logo-put(text, text, bytea) → nothing
insert into client_logos (client_id, file, body) values ($1, $2, $3)
  on conflict (client_id) do update set file = excluded.file, body = excluded.body;

-- client-secret-insert(text, text, bytea) → nothing
insert into client_secrets (client_id, secret_id, secret_hash) values ($1, $2, $3)
      on conflict (client_id, secret_hash) do nothing;

-- client-secret-list(text) → secretId text, createdAt timestamp with time zone, lastUsedOn text, retiredAt timestamp with time zone
select secret_id as "secretId", created_at as "createdAt", to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
             retired_at as "retiredAt"
        from client_secrets where client_id = $1 order by created_at, secret_id;

-- client-secret-mark-used(text[], bytea[]) → nothing
update client_secrets set last_used_on = current_date
   where (client_id, secret_hash) in (
           select client_id, secret_hash from client_secrets
            where (client_id, secret_hash) in (select caller_id, secret_hash from unnest($1::text[], $2::bytea[]) with ordinality as input (caller_id, secret_hash, n))
              for no key update skip locked);

-- client-secret-retire(text, text, boolean) → found boolean, retired boolean
with accepted as (
        select secret_id from client_secrets s where client_id = $1 and s.retired_at is null order by secret_id for update
      ), retired as (
        update client_secrets s set retired_at = clock_timestamp()
         where client_id = $1 and secret_id = $2 and s.retired_at is null
           and ($3 or (select count(*) from accepted) > 1)
        returning secret_id
      )
      select exists (select from accepted where secret_id = $2) as found,
             exists (select from retired) as retired;

-- client-set-status(text, text) → changed boolean
with alone as materialized (
      select pg_advisory_xact_lock(7274829)
    ), changed as (
      update clients set status = $1 from alone
       where client_id = $2 and status <> $1 returning client_id
    )
    select exists (select from changed) as changed from clients where client_id = $2;

-- client-write(text, text, text[], text, text, boolean, boolean, boolean, text, boolean, json, text) → clientId text, verified boolean, status text, revision integer, createdAt timestamp with time zone, name text, redirectUri text, allowedRights text[], site text, logo text, reviewed boolean, userLimits boolean, oauth21 boolean, eventsUri text, eventsInternal boolean, most json
update clients set (revision, name, redirect_uri, allowed_rights, site, logo, reviewed, user_limits, oauth21, events_uri, events_internal, most_days, most_sum) = row (revision + 1, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
    ($11::json ->> 'days')::int, ($11::json ->> 'sum')::numeric)
   where client_id = $12 returning client_id as "clientId", verified, status, revision, created_at as "createdAt", name, redirect_uri as "redirectUri", allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, events_uri as "eventsUri", events_internal as "eventsInternal",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most;

-- ending-note(timestamp with time zone, timestamp with time zone, uuid[]) → nothing
insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, detail)
  select due, grant_id, user_id, client_id, instance_name, scope, jsonb_build_object('ends_at', ends_at) from (
  select g.*, e.ends_at, case when e.ends_at <= $1::timestamptz then e.kind else 'ends_soon' end as due
    from grants g
    cross join lateral (select (g.token_issued_at at time zone 'UTC' + case when g.token_issued_at < '2018-02-07T00:00:00Z'
                  then interval '6 months' else interval '36 months' end) at time zone 'UTC' as ends_at) token
    cross join lateral (select 'expired' as kind, token.ends_at
      union all select 'right_expired', (day + 1)::timestamp at time zone 'UTC' from (select distinct day[1]::date from regexp_matches(regexp_replace(g.scope, '"([^"\\]|\\.)*"', '', 'g'), '\.until\(([0-9-]+)\)', 'g') as found(day)
    where position('.until(' in g.scope) > 0) of_rights(day)) e
   where g.token_issued_at is not null and g.revoked_at is null and (position('.until(' in g.scope) > 0 or g.token_issued_at < '2018-02-07T00:00:00Z'
    or g.token_issued_at between $2::timestamptz - interval '36 months 5 days'
                             and $1::timestamptz - interval '36 months' + interval '35 days') and (e.kind = 'expired' or e.ends_at < token.ends_at)
     and (e.ends_at > $2::timestamptz and e.ends_at <= $1::timestamptz
       or e.ends_at - interval '30 days' > $2::timestamptz
      and e.ends_at - interval '30 days' <= $1::timestamptz
      and (e.kind = 'expired' or e.ends_at - interval '60 days' > g.confirmed_at))) g
 where grant_id = any ($3::uuid[]) and not exists (select from audit_events e where e.user_id = g.user_id and e.at > $2::timestamptz
   and e.kind = due and e.grant_id = g.grant_id and (e.detail ->> 'ends_at')::timestamptz = g.ends_at);

-- ending-since() → since text, until text
select coalesce((select value from settings where name = 'endings_until'), clock_timestamp()::text) as since,
       clock_timestamp()::text as until;

-- ending-until(text) → nothing
insert into settings (name, value) values ('endings_until', $1)
on conflict (name) do update set value = excluded.value, set_at = clock_timestamp();

-- expired-remove-operator_sessions() → nothing
with alone as materialized (select pg_try_advisory_xact_lock(7274828) as is_alone)
delete from operator_sessions where session_hash = any (array(
  select session_hash from operator_sessions where (select is_alone from alone)
   and expires_at < clock_timestamp() order by expires_at
   limit 1000 for update skip locked));

-- expired-remove-refusals() → nothing
with alone as materialized (select pg_try_advisory_xact_lock(7274828) as is_alone)
delete from refusals where slot = any (array(
  select slot from refusals where (select is_alone from alone)
   and at < clock_timestamp() - interval '7 days'
   limit 1000 for update skip locked));

-- expired-remove-rejections() → nothing
with alone as materialized (select pg_try_advisory_xact_lock(7274828) as is_alone)
delete from rejections where page_hash = any (array(
  select page_hash from rejections where (select is_alone from alone)
   and expires_at < clock_timestamp() order by expires_at
   limit 1000 for update skip locked));

-- expired-remove-sessions() → nothing
with alone as materialized (select pg_try_advisory_xact_lock(7274828) as is_alone)
delete from sessions where session_hash = any (array(
  select session_hash from sessions where (select is_alone from alone)
   and created_at < clock_timestamp() - interval '12 hours' order by created_at
   limit 1000 for update skip locked));

-- expired-remove-throttles() → nothing
with alone as materialized (select pg_try_advisory_xact_lock(7274828) as is_alone)
delete from throttles where slot = any (array(
  select slot from throttles where (select is_alone from alone)
   and greatest(free_at, counted_at + level * interval '600 seconds', noted_at + interval '1 hour') < clock_timestamp()
   limit 1000 for update skip locked));

-- grant-approve(uuid[], uuid[], text[], integer[], text[], integer[], text[], text[], jsonb[], text[], bytea[], double precision[], text[], bytea[], bytea[], integer[], boolean[], text[], text[], text[], text[], timestamp with time zone) → n integer, verdict text, written boolean, annulled boolean, late boolean
with requests as materialized (
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[], $9::jsonb[], $10::text[], $11::bytea[], $12::float8[], $13::text[], $14::bytea[], $15::bytea[], $16::int[], $17::boolean[], $18::text[], $19::text[], $20::text[], $21::text[]) with ordinality as input (grant_id, user_id, client_id, client_revision, instance_name, revision, scope, asked_scope, limits, redirect_uri, code_hash, code_lifetime_seconds, code_challenge, session_hash, page, max_instances, confirms_payments, confirming_hash, confirming_id, address, reference, n)
), judged as materialized (  -- offset 0: see ../common/sessions.ts
  select r.*, c.revision is not null and u.user_id is not null as is_allowed, s.session_hash is not null as session_is_valid, u.may_decide,
         s.browser, s.system,
         (g.code_hash, g.scope) = (r.code_hash, r.scope) as code_is_stored, g.token_hash is null and g.revoked_at is null and g.code_expires_at > clock_timestamp() as code_is_usable,
         is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) as was_live, case when is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) then g.scope end as replaces,
         c.revision = r.client_revision and coalesce(g.revision, 0) = r.revision and ((u.payment_password_hash is null and not r.confirms_payments)
  or coalesce(u.payment_password_hash = r.confirming_hash, false) or coalesce(u.external_id = r.confirming_id, false)
  or not ((position('payment' in r.scope) > 0 or position('.limit(' in r.scope) > 0)
     and string_to_array(replace(replace(regexp_replace(r.scope, '"([^"\\]|\\.)*"', '', 'g'), '.limit(', ' .limit '), '(', ' '), ' ')
     && '{.limit,payment-shop,payment-p2p,payment.to-pattern,payment.to-account}')) as is_current
    from requests r
    left join lateral (select * from clients where client_id = r.client_id and status = 'active' offset 0) c on true
    left join lateral (select u.*, greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) < 1000 as may_decide from users u
                        where u.user_id = r.user_id and u.status = 'active' offset 0) u on true
    left join lateral (select * from sessions where session_hash = r.session_hash offset 0) s
           on s.user_id = r.user_id and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')
    left join lateral (select * from grants where user_id = r.user_id and grant_id = r.grant_id offset 0) g on true
), locked as materialized (
  select u.user_id from users u
   where u.user_id = any (array(select user_id from judged where is_allowed and session_is_valid and may_decide and is_current))
     and u.status = 'active' and greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) < 1000
   order by u.user_id for no key update
), counted as (
  update users u set decisions = greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) + 1, decided_at = clock_timestamp() where u.user_id = any (array(select user_id from locked))
  returning u.user_id, u.payment_password_hash, u.external_id
), locked_sessions as materialized (
  select s.session_hash from sessions s
   where s.session_hash = any (array(select session_hash from judged join counted using (user_id))) and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')
   order by s.session_hash for no key update
), moment as materialized (
  select clock_timestamp() >= $22::timestamptz as late
    from (select (select count(*) from counted) + (select count(*) from locked_sessions) as rows) locked where rows >= 0
), capacity as materialized (
  select r.*, may_hold(grant_id, user_id, client_id, max_instances) as has_capacity, answer_to(page, grant_id, code_hash) as answer
    from judged r join counted u using (user_id) join locked_sessions s using (session_hash), moment
   where not late and ((u.payment_password_hash is null and not r.confirms_payments)
  or coalesce(u.payment_password_hash = r.confirming_hash, false) or coalesce(u.external_id = r.confirming_id, false)
  or not ((position('payment' in r.scope) > 0 or position('.limit(' in r.scope) > 0)
     and string_to_array(replace(replace(regexp_replace(r.scope, '"([^"\\]|\\.)*"', '', 'g'), '.limit(', ' .limit '), '(', ' '), ' ')
     && '{.limit,payment-shop,payment-p2p,payment.to-pattern,payment.to-account}'))
), written as (
  insert into grants as g (grant_id, user_id, client_id, instance_name, revision, scope, redirect_uri,
                           code_hash, code_expires_at, code_challenge, confirmed_at, client_revision, lowered)
  select grant_id, user_id, client_id, instance_name, revision + 1, scope, redirect_uri, code_hash,
         clock_timestamp() + make_interval(secs => code_lifetime_seconds), code_challenge, clock_timestamp(), client_revision,
         asked_scope is not null
    from capacity where has_capacity and answer is null order by grant_id
  on conflict (grant_id) do update
     set revision = excluded.revision, scope = excluded.scope, redirect_uri = excluded.redirect_uri,
         code_hash = excluded.code_hash, code_challenge = excluded.code_challenge, confirmed_at = clock_timestamp(),
         -- the code's lifetime begins when the row is locked
         code_expires_at = clock_timestamp() + (excluded.code_expires_at - excluded.confirmed_at),
         client_revision = excluded.client_revision, lowered = excluded.lowered, token_hash = null, token_issued_at = null, revoked_at = null,
         last_used_on = null
   where g.revision = excluded.revision - 1 and clock_timestamp() < $22::timestamptz  -- checked again when the row is locked
     and (g.user_id, g.client_id) = (excluded.user_id, excluded.client_id)
     and g.instance_name is not distinct from excluded.instance_name
  returning grant_id, user_id, client_id, instance_name, scope, revision
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, limits, detail, address, reference)
  select case revision when 1 then 'approved' else 'approved_again' end, grant_id, user_id, client_id, instance_name, scope, limits, nullif(jsonb_strip_nulls(jsonb_build_object(
  'asked_scope', asked_scope, 'replaces', replaces, 'confirmed_by', confirmed_by, 'browser', browser, 'system', system,
  'session', case when confirmed_by is not null then substr(encode(sha256(session_hash), 'hex'), 1, 32) end)), '{}'), address, reference from (select w.*, limits, asked_scope, replaces, address, reference, session_hash, browser, system, case when confirming_hash is not null then 'payment_password' when confirming_id is not null then 'provider' end as confirmed_by
        from written w join capacity using (grant_id)) w
)
select j.n::int as n,
       case when w.grant_id is not null then 'written'
            when not j.is_allowed then 'blocked'
            when not j.session_is_valid then 'ended'
            when j.code_is_stored then case when j.code_is_usable then 'written' else 'spent' end
            when not j.may_decide then 'too_many'
            when r.answer = 'rejected' then 'rejected'
            when not r.has_capacity then 'full'
            when j.is_current then 'changed_since_read'
            else 'stale' end as verdict,
       w.grant_id is not null as written, w.grant_id is not null and j.was_live is true as annulled,
       -- an approval that is retried after a lost answer is there already
       w.grant_id is null and j.code_is_stored is not true and clock_timestamp() >= $22::timestamptz as late
  from judged j left join capacity r on r.n = j.n left join written w on w.grant_id = r.grant_id;

-- grant-exchange(uuid[], bytea[], text[], bytea[], text[], text[], bytea[], text[], text[], timestamp with time zone) → n integer, verdict text, late boolean, known boolean, issuedAt timestamp with time zone, scope text
with requests as materialized (
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::text[]) with ordinality as input (grant_id, code_hash, client_id, secret_hash, redirect_uri, challenge, token_hash, address, reference, n)
), locked as materialized (
  select * from grants where grant_id = any ($1::uuid[])
   order by grant_id for no key update
), moment as materialized (
  select clock_timestamp() >= $10::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), judged as materialized (
  select r.n, r.grant_id, r.token_hash, r.address, r.reference, g.token_issued_at, g.scope, g.lowered, s.client_id, s.secret_hash,
    s.secret_hash is not null and s.last_used_on is distinct from current_date as first_use, c.client_id is not null as known,
    case
      when c.status is distinct from 'active' then 'client_unknown_or_blocked'
      when c.verified and s.secret_hash is null then 'secret_wrong'
      when g.grant_id is null or g.client_id <> r.client_id or g.code_hash <> r.code_hash then 'code_unknown'
      when g.token_hash = r.token_hash and g.revoked_at is null then 'issued'
      when m.late then 'late'
      when g.code_expires_at <= clock_timestamp() then 'code_expired'
      when g.client_revision <> c.revision and g.token_hash is null then 'client_changed'
      when g.redirect_uri <> r.redirect_uri and g.token_hash is null and g.revoked_at is null then 'redirect_uri_differs'
      when g.redirect_uri <> r.redirect_uri then 'code_used'
      when g.code_challenge is not null and r.challenge is null then 'verifier_missing'
      when g.code_challenge is null and r.challenge is not null then 'verifier_unneeded'
      when g.code_challenge <> r.challenge then 'verifier_mismatch'
      when g.token_hash is not null and g.revoked_at is null then 'code_replayed'
      when g.token_hash is not null or g.revoked_at is not null then 'code_used'
      when u.status <> 'active' then 'user_blocked'
      else 'to_issue'
    end as verdict
  from requests r
 cross join moment m
  left join clients c on c.client_id = r.client_id
  left join client_secrets s on s.client_id = r.client_id and s.secret_hash = r.secret_hash and s.retired_at is null
  left join locked g on g.grant_id = r.grant_id
  left join lateral (select status from users where user_id = g.user_id offset 0) u on true  -- see ../common/sessions.ts
), issued as (
  update grants g set token_hash = j.token_hash, token_issued_at = clock_timestamp()
    from judged j where g.grant_id = j.grant_id and j.verdict = 'to_issue'
  returning j.n, g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, j.address, j.reference, g.token_issued_at
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from judged j where g.grant_id = j.grant_id and j.verdict = 'code_replayed'
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, j.address, j.reference
), noted as (
  
  update client_secrets set last_used_on = current_date
   where (client_id, secret_hash) in (
           select client_id, secret_hash from client_secrets
            where (client_id, secret_hash) in (select client_id, secret_hash from judged where first_use)
              for no key update skip locked)
), recorded_issues as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'exchanged', grant_id, user_id, client_id, instance_name, scope, address, reference from issued
), recorded_replays as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'replayed', grant_id, user_id, client_id, instance_name, scope, address, reference from revoked
)
select j.n::int as n,
       case when i.n is null then j.verdict else 'issued' end as verdict,
       j.verdict = 'late' as late, j.known,
       coalesce(i.token_issued_at, j.token_issued_at) as "issuedAt",
       case when j.lowered and (i.n is not null or j.verdict = 'issued') then j.scope end as scope
  from judged j left join issued i on i.n = j.n;

-- grant-find(uuid[], uuid[], text[], bigint[]) → n integer, grantId uuid, userId uuid, clientId text, instanceName text, revision integer, scope text, confirmedAt timestamp with time zone, lastUsedOn text, codeExpiresAt timestamp with time zone, tokenIssuedAt timestamp with time zone, revokedAt timestamp with time zone, now timestamp with time zone, mayHold boolean, firstSeen boolean, others json
select input.n::int as n, g.grant_id as "grantId", g.user_id as "userId", g.client_id as "clientId",
  g.instance_name as "instanceName", g.revision, g.scope, g.confirmed_at as "confirmedAt",
  to_char(g.last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
  g.code_expires_at as "codeExpiresAt", g.token_issued_at as "tokenIssuedAt", g.revoked_at as "revokedAt",
  clock_timestamp() as now,
       coalesce(is_live(g.code_expires_at, g.token_issued_at, g.revoked_at), false) or input.max_instances > beside.live as "mayHold",
       g.grant_id is null and beside.known = 0 as "firstSeen",
       case when beside.read < input.max_instances + 1000 and length(beside.scopes::text) <= 32000
            then beside.scopes end as others
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) with ordinality as input (grant_id, user_id, client_id, max_instances, n)
  left join lateral (select * from grants where grant_id = input.grant_id offset 0) g on true  -- offset 0: see sessions.ts
  cross join lateral (
    select count(*) as read, count(*) filter (where is_other) as known, count(*) filter (where is_live) as live,
           coalesce(json_agg(scope) filter (where is_live and ((position('payment' in g.scope) > 0 or position('.limit(' in g.scope) > 0)
     and string_to_array(replace(replace(regexp_replace(g.scope, '"([^"\\]|\\.)*"', '', 'g'), '.limit(', ' .limit '), '(', ' '), ' ')
     && '{.limit,payment-shop,payment-p2p,payment.to-pattern,payment.to-account}')), '[]') as scopes
      from (select *, is_other and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) as is_live
              from (select *, client_id = input.client_id and grant_id <> input.grant_id as is_other
                      from (select * from grants where user_id = input.user_id
                             order by confirmed_at desc limit input.max_instances + 1000) newest) g) g
  ) beside;

-- grant-find-approval(uuid[], bytea[], text[]) → n integer, isUsable boolean, isLive boolean
select input.n::int as n, g.token_hash is null and g.revoked_at is null and g.code_expires_at > clock_timestamp() as "isUsable", is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) as "isLive"
  from unnest($1::uuid[], $2::bytea[], $3::text[]) with ordinality as input (grant_id, code_hash, scope, n)
  join lateral (select * from grants where grant_id = input.grant_id offset 0) g
    on (g.code_hash, g.scope) = (input.code_hash, input.scope);

-- grant-find-imported(bytea[]) → id uuid, userId uuid
select g.grant_id as id, g.user_id as "userId" from imported_tokens i join grants g using (grant_id, token_hash)
   where i.token_hash = any ($1::bytea[]) and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at);

-- grant-find-of-token(bytea, uuid) → grantId uuid, userId uuid, clientId text, instanceName text, revision integer, scope text, confirmedAt timestamp with time zone, lastUsedOn text, codeExpiresAt timestamp with time zone, tokenIssuedAt timestamp with time zone, revokedAt timestamp with time zone, now timestamp with time zone, login text, clientName text, refused text
select g.grant_id as "grantId", g.user_id as "userId", g.client_id as "clientId",
  g.instance_name as "instanceName", g.revision, g.scope, g.confirmed_at as "confirmedAt",
  to_char(g.last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
  g.code_expires_at as "codeExpiresAt", g.token_issued_at as "tokenIssuedAt", g.revoked_at as "revokedAt",
  clock_timestamp() as now, u.login, c.name as "clientName",
         case when g.token_hash is distinct from $1 then 'replaced by a later authorization, or never issued'
              when c.status <> 'active' then 'client blocked' when u.status <> 'active' then 'user blocked' end as refused
    from grants g join clients c using (client_id) join users u using (user_id) where g.grant_id = $2;

-- grant-lower-by-operator(uuid, text, text, text, jsonb, text, text, timestamp with time zone) → lowered boolean, late boolean
with locked as (
  select g.grant_id from grants g where g.grant_id = $1 and g.scope = $2 and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) for no key update
), moment as materialized (
  select clock_timestamp() >= $8::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), lowered as (
  update grants g set scope = $3, lowered = true, revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, operator, detail, address, reference)
  select 'lowered_by_operator', grant_id, user_id, client_id, instance_name, scope, $4, $5::jsonb, $6, $7 from lowered
)
select exists (select from lowered) as lowered, late from moment;

-- grant-mark-used(uuid[], bytea[]) → nothing
update grants set last_used_on = (clock_timestamp() at time zone 'UTC')::date
 where grant_id = any (array(
   select g.grant_id from grants g
    where g.grant_id = any ($1::uuid[]) and g.token_hash = any ($2::bytea[]) and g.last_used_on is distinct from (clock_timestamp() at time zone 'UTC')::date and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at)
      for no key update skip locked));

-- grant-reject(bytea, uuid, bytea, bytea, uuid, timestamp with time zone, text, text, text, jsonb, text, text, timestamp with time zone) → verdict text, noted boolean, late boolean
with earlier as materialized (
  select answer_to($1, $2, $3) as answer
), session as materialized (
  select greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) < 1000 as may_decide from sessions s join users u using (user_id)
   where s.session_hash = $4 and s.user_id = $5 and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')
), counted as (
  update users u set decisions = greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) + 1, decided_at = clock_timestamp()
   where u.user_id = $5 and greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) < 1000 and exists (select from earlier where answer is null)
     and exists (select from session where may_decide)
  returning u.user_id
), locked_sessions as (
  select s.session_hash from sessions s
   where s.session_hash = $4 and s.user_id = (select user_id from counted) and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')
     for no key update
), moment as materialized (
  select clock_timestamp() >= $13::timestamptz as late
    from (select (select count(*) from counted) + (select count(*) from locked_sessions) as rows) locked where rows >= 0
), answered as materialized (  -- by the decisions that this one waited for, too
  select answer_to($1, $2, $3) as answer from locked_sessions, moment where not late
), noted as (
  insert into rejections (page_hash, expires_at) select $1, $6 from answered where answer is null
  on conflict do nothing returning page_hash
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, limits, address, reference)
  select 'rejected', $2::uuid, $5, $7, $8, $9, $10, $11, $12 from noted
), swept as (
  delete from rejections where exists (select from noted) and page_hash = any (array(
    select page_hash from rejections where expires_at < clock_timestamp() order by expires_at limit 2 for update skip locked))
)
select case when exists (select from noted) then 'rejected'
            when coalesce(answered.answer, earlier.answer) is not null then coalesce(answered.answer, earlier.answer)
            when not exists (select from session) then 'ended'
            when exists (select from session where not may_decide) then 'too_many'
            else 'stale' end as verdict,
       exists (select from noted) as noted, late and earlier.answer is null as late
  from earlier cross join moment left join answered on true;

-- grant-revoke-all-of-user(uuid, text, text, text, timestamp with time zone) → hasMore boolean, revoked integer, late boolean
with  locked as (
  select grant_id from grants where grant_id = any (array(
    select grant_id from (select * from grants where user_id = $1 offset 0) g
     where ($2::text is null or client_id = $2) and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) order by grant_id limit 500)) order by grant_id for no key update
), moment as materialized (
  select clock_timestamp() >= $5::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and g.revoked_at is null and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'revoked_by_user', grant_id, user_id, client_id, instance_name, scope, $3, $4 from revoked
)
select (select count(*) from locked) = 500 as "hasMore", (select count(*)::int from revoked) as revoked, late from moment;

-- grant-revoke-by-operator(uuid[], text, jsonb, text, text, timestamp with time zone) → revoked integer, late boolean
with  locked as (
  select grant_id from grants where grant_id = any ($1::uuid[]) order by grant_id for no key update
), moment as materialized (
  select clock_timestamp() >= $6::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and g.revoked_at is null and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, operator, detail, address, reference)
  select 'revoked_by_operator', grant_id, user_id, client_id, instance_name, scope, $2, $3::jsonb, $4, $5 from revoked
)
select (select count(*)::int from revoked) as revoked, late from moment;

-- grant-revoke-by-token(uuid[], bytea[], text[], bytea[], text[], text[], timestamp with time zone) → n integer, authenticated boolean, known boolean, revoked boolean, late boolean
with requests as materialized (
  select r.*, r.client_id is null or not (c.status is distinct from 'active' or c.verified and s.secret_hash is null) as authenticated, c.client_id is not null as known
    from (select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::text[], $6::text[]) with ordinality as input (grant_id, token_hash, client_id, secret_hash, address, reference, n)) r
  left join clients c on c.client_id = r.client_id
  left join client_secrets s on s.client_id = r.client_id and s.secret_hash = r.secret_hash and s.retired_at is null
), locked as (
  select grant_id from grants where grant_id = any ($1::uuid[]) and exists (
   select from requests r
    where r.authenticated and r.grant_id = grants.grant_id and r.token_hash = grants.token_hash
      and (r.client_id is null or r.client_id = grants.client_id)) order by grant_id for no key update
), moment as materialized (
  select clock_timestamp() >= $7::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and g.revoked_at is null and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'revoked_by_application', grant_id, user_id, client_id, instance_name, scope, (select address from requests r where r.grant_id = revoked.grant_id), (select reference from requests r where r.grant_id = revoked.grant_id) from revoked
)
select r.n::int as n, authenticated, known, r.grant_id in (select grant_id from revoked) is true as revoked, late from moment cross join requests r;

-- grant-revoke-of-user(uuid, uuid, text, text, timestamp with time zone) → revoked boolean, late boolean
with  locked as (
  select grant_id from grants where user_id = $1 and grant_id = $2 order by grant_id for no key update
), moment as materialized (
  select clock_timestamp() >= $5::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), revoked as (
  update grants g set revoked_at = clock_timestamp(), revision = g.revision + 1
    from locked, moment where g.grant_id = locked.grant_id and g.revoked_at is null and not late
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope
), recorded as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'revoked_by_user', grant_id, user_id, client_id, instance_name, scope, $3, $4 from revoked
)
select exists (select from revoked) as revoked, late from moment;

-- health-tables() → readOnly boolean
select current_setting('transaction_read_only') = 'on' as "readOnly"
    from (select) one left join (select from clients limit 0) ours on true;

-- history-find(uuid, bigint, bigint, bigint) → kind text, at timestamp with time zone, micros text, clientId text, clientName text, instanceName text, scope text, address text, confirmedBy text, browser text, system text, receipt text
select a.kind, a.at, (extract(epoch from a.at) * 1000000)::bigint::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.scope, case when a.operator is null then a.address end as address, a.detail ->> 'confirmed_by' as "confirmedBy",
       a.detail ->> 'browser' as browser, a.detail ->> 'system' as system,
       case when a.kind in ('approved', 'approved_again') then to_char(a.at at time zone 'UTC', 'YYYY-MM-DD-') || a.reference end as receipt
  from (
select * from audit_events where user_id = $1 and kind <> 'exchanged' and kind in ('approved', 'approved_again', 'rejected', 'expired', 'replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator', 'lowered_by_operator', 'signed_in', 'signed_out', 'session_ended', 'other_sessions_ended', 'password_changed', 'payment_password_changed', 'password_guessed', 'payment_password_guessed', 'imported', 'user_created', 'user_imported', 'user_updated', 'user_blocked', 'user_unblocked', 'user_signed_out', 'user_password_set') and at <= coalesce(timestamptz 'epoch' + $2::bigint * interval '1 microsecond', 'infinity') order by at desc, ctid
offset (select count(*) from (select from audit_events where user_id = $1 and kind <> 'exchanged' and kind in ('approved', 'approved_again', 'rejected', 'expired', 'replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator', 'lowered_by_operator', 'signed_in', 'signed_out', 'session_ended', 'other_sessions_ended', 'password_changed', 'payment_password_changed', 'password_guessed', 'payment_password_guessed', 'imported', 'user_created', 'user_imported', 'user_updated', 'user_blocked', 'user_unblocked', 'user_signed_out', 'user_password_set') and at = timestamptz 'epoch' + $2::bigint * interval '1 microsecond' limit $3) passed) limit $4) a
  left join clients c using (client_id)
 order by a.at desc;

-- history-find-approval(uuid, timestamp with time zone, timestamp with time zone, text) → kind text, at timestamp with time zone, micros text, clientId text, clientName text, instanceName text, scope text, address text, confirmedBy text, browser text, system text, receipt text, grantId uuid
with approval as (
  select grant_id as its_grant, at as its_time from audit_events
   where user_id = $1 and kind <> 'exchanged' and kind in ('approved', 'approved_again', 'rejected', 'expired', 'replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator', 'lowered_by_operator', 'signed_in', 'signed_out', 'session_ended', 'other_sessions_ended', 'password_changed', 'payment_password_changed', 'password_guessed', 'payment_password_guessed', 'imported', 'user_created', 'user_imported', 'user_updated', 'user_blocked', 'user_unblocked', 'user_signed_out', 'user_password_set') and at >= $2 and at < $3 and kind in ('approved', 'approved_again') and reference = $4)

select a.kind, a.at, (extract(epoch from a.at) * 1000000)::bigint::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.scope, case when a.operator is null then a.address end as address, a.detail ->> 'confirmed_by' as "confirmedBy",
       a.detail ->> 'browser' as browser, a.detail ->> 'system' as system,
       case when a.kind in ('approved', 'approved_again') then to_char(a.at at time zone 'UTC', 'YYYY-MM-DD-') || a.reference end as receipt, a.grant_id as "grantId"
  from (select later.* from approval cross join lateral (
     select * from audit_events where user_id = $1 and kind <> 'exchanged' and kind in ('approved', 'approved_again', 'rejected', 'expired', 'replayed', 'revoked_by_user', 'revoked_by_application', 'revoked_by_operator', 'lowered_by_operator', 'signed_in', 'signed_out', 'session_ended', 'other_sessions_ended', 'password_changed', 'payment_password_changed', 'password_guessed', 'payment_password_guessed', 'imported', 'user_created', 'user_imported', 'user_updated', 'user_blocked', 'user_unblocked', 'user_signed_out', 'user_password_set') and at >= its_time order by at limit 10000) later
    where grant_id = its_grant and kind <> 'rejected' order by at limit 2) a
  left join clients c using (client_id)
 order by a.at desc;

-- history-find-warnings(bigint, uuid, bigint, text[], text[]) → kind text, at timestamp with time zone, micros text, clientId text, clientName text, instanceName text, scope text, address text, confirmedBy text, browser text, system text, receipt text, times integer, firstAt timestamp with time zone, seen text, hasMore boolean
select a.kind, a.at, (extract(epoch from a.at) * 1000000)::bigint::text as micros, a.client_id as "clientId",
       c.name as "clientName", a.instance_name as "instanceName", a.scope, case when a.operator is null then a.address end as address, a.detail ->> 'confirmed_by' as "confirmedBy",
       a.detail ->> 'browser' as browser, a.detail ->> 'system' as system,
       case when a.kind in ('approved', 'approved_again') then to_char(a.at at time zone 'UTC', 'YYYY-MM-DD-') || a.reference end as receipt,
       a.times, a.first_at as "firstAt", concat_ws('-', a.alike, (extract(epoch from a.first_at) * 1000000)::bigint, (extract(epoch from a.at) * 1000000)::bigint) as seen,
       a.has_more as "hasMore"
  from (
select *, count(*) over () > $1 or bool_or(read_of_kind = 200) over () as has_more from (
  select distinct on (alike) *, min(at) over (partition by alike) as first_at, count(*) over (partition by alike)::int as times,
         count(*) over (partition by kind) as read_of_kind
    from (values ('approved'), ('approved_again'), ('replayed'), ('password_guessed'), ('payment_password_guessed'), ('user_password_set'), ('signed_in')) of_kind (wanted) cross join lateral (
    select *, left(encode(sha256(convert_to(row(regexp_replace(kind, '^approved.*', 'approved'), client_id, case when kind not in ('replayed', 'password_guessed', 'user_password_set') then substring(address from '^(?:\d+\.){3}|^(?:[^:]*:){3}') end, detail ->> 'browser', detail ->> 'system')::text, 'UTF8')), 'hex'), 12) as alike from audit_events
     where user_id = $2 and kind = wanted and kind in ('approved', 'approved_again', 'replayed', 'password_guessed', 'payment_password_guessed', 'user_password_set', 'signed_in')
       and (kind not in ('approved', 'approved_again', 'signed_in')
  or detail ->> 'known_device' is distinct from 'true' and detail ->> 'session' is not null)
       and at > now() - interval '30 days' and at < now() + interval '1 day'
       and at > timestamptz 'epoch' + $3::bigint * interval '1 microsecond'
       and (left(detail ->> 'session', 16) = any ($4::text[])) is not true
       and not exists (
         select from unnest($5::text[]) w where split_part(w, '-', 1) = left(encode(sha256(convert_to(row(regexp_replace(kind, '^approved.*', 'approved'), client_id, case when kind not in ('replayed', 'password_guessed', 'user_password_set') then substring(address from '^(?:\d+\.){3}|^(?:[^:]*:){3}') end, detail ->> 'browser', detail ->> 'system')::text, 'UTF8')), 'hex'), 12)
            and (extract(epoch from at) * 1000000)::bigint between split_part(w, '-', 2)::bigint and split_part(w, '-', 3)::bigint)
     order by at desc limit 200) newest
   order by alike, at desc) one_of_each
 order by row_number() over (partition by kind order by at desc), at desc limit $1) a
  left join clients c using (client_id)
 order by a.at desc;

-- import-block-others(jsonb, text) → n integer, verdict text
with given as materialized (
  select * from jsonb_to_recordset($1::jsonb) as r (n int, problem text, doubt text, update boolean, client_id text)
), blocked as (
  update clients set status = 'blocked'
   where client_id = any (array(
     select client_id from clients c left join lateral (
      select (array_agg(kind order by at desc))[1] as last,
             (array_agg(detail order by at desc) filter (where kind = 'client_imported'))[1] as past
        from audit_events
       where true and client_id = c.client_id and kind <> 'exchanged' and kind ~ '^client_|_changed$' and kind <> 'user_signed_out'
         and (detail ->> 'by' = 'import' or kind = 'client_updated' and (  -- not in a file, or judged apart
              detail -> 'fields' <@ '["login", "external_id"]' or detail - '{logo,user_limits}'::text[] = '{}')) is not true
      having bool_or(kind = 'client_imported')) i on true
      where status = 'active' and client_id not in (select client_id from given) and last = 'client_imported'))
  returning client_id
), logged as (
  insert into audit_events (kind, client_id, operator, detail)
  select 'client_blocked', client_id, $2, '{"by": "import"}'::jsonb from blocked
)
select 0 as n, client_id as verdict from blocked order by 2;

-- import-clients(jsonb, text) → n integer, verdict text
with given as materialized (
  select * from jsonb_to_recordset($1::jsonb) as r (n int, problem text, doubt text, update boolean, client_id text, verified boolean, secret_id text, secret_hash bytea, detail jsonb, name text, redirect_uri text, allowed_rights text[], site text, reviewed boolean, oauth21 boolean, events_uri text, events_internal boolean, most_days int, most_sum numeric)
), compared as materialized (
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
                    where key = any ('{name, redirect_uri, allowed_rights, site, reviewed, oauth21, events_uri, events_internal, most_days, most_sum}') and value is distinct from to_jsonb(c) -> key) || array_remove(array[
               case when r.verified and not exists (select from client_secrets s
                         where s.client_id = r.client_id and s.secret_hash = r.secret_hash and not (r.update and retired_at is not null) offset 0)
                    then 'secret' end,
               case when c.status = 'blocked' then 'active' end], null) as fields) f
    left join lateral (
      select (array_agg(kind order by at desc))[1] as last,
             (array_agg(detail order by at desc) filter (where kind = 'client_imported'))[1] as past
        from audit_events
       where r.update and fields <> '{}' and client_id = c.client_id and kind <> 'exchanged' and kind ~ '^client_|_changed$' and kind <> 'user_signed_out'
         and (detail ->> 'by' = 'import' or kind = 'client_updated' and (  -- not in a file, or judged apart
              detail -> 'fields' <@ '["login", "external_id"]' or detail - '{logo,user_limits}'::text[] = '{}')) is not true
      having bool_or(kind = 'client_imported')) i on true
), written as (
  insert into clients (client_id, verified, name, redirect_uri, allowed_rights, site, reviewed, oauth21, events_uri, events_internal, most_days, most_sum)
  select client_id, verified, name, redirect_uri, allowed_rights, site, reviewed, oauth21, events_uri, events_internal, most_days, most_sum from compared where verdict is null order by n
  on conflict (client_id) do update
     set (name, redirect_uri, allowed_rights, site, reviewed, oauth21, events_uri, events_internal, most_days, most_sum) = (excluded.name, excluded.redirect_uri, excluded.allowed_rights, excluded.site, excluded.reviewed, excluded.oauth21, excluded.events_uri, excluded.events_internal, excluded.most_days, excluded.most_sum), status = 'active', revision = clients.revision + 1
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
  insert into audit_events (kind, client_id, operator, detail)
  select 'client_imported', client_id, $2, detail from given join written using (client_id)
)
select c.n, coalesce(verdict, case when w.client_id is null then 'client_id: is taken'
                                   when revision is not null then 'updated, client_id: ' || array_to_string(fields || doubt, ', ')
                                   else coalesce('forced, ' || doubt, 'imported') end) as verdict
  from compared c left join written w using (client_id);

-- import-grants(jsonb, text) → n integer, verdict text
with given as materialized (
  select * from jsonb_to_recordset($1::jsonb) as r (n int, problem text, doubt text, update boolean, key text, external_id text, client_id text, instance_name text, scope text, token_hash bytea, issued_at timestamptz,
   refusal text)
), located as materialized (
  select r.*, u.user_id, c.redirect_uri, c.revision as client_revision, l.grant_id,
         case when not is_live(r.issued_at, r.issued_at, null) then 'skipped'
              when r.problem is not null then r.problem
              when u.user_id is null and r.external_id is null then 'login: matches no user'
              when u.user_id is null then 'external_id: matches no user'
              when u.login_key <> r.key then 'login: belongs to a different user than the external_id'
              when r.external_id is null and u.external_id is not null and not exists (select from audit_events where user_id = u.user_id and kind = 'user_imported' offset 0)  -- perhaps a newcomer of the provider
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
    cross join lateral (select encode(substr(sha256(convert_to(concat('["', user_id, '",', to_json(r.client_id), ',',
         coalesce(to_json(r.instance_name)::text, 'null'), ']'), 'UTF8')), 1, 16), 'hex')::uuid as grant_id) l
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
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, operator)
  select 'imported', grant_id, user_id, client_id, instance_name, scope, $2 from written
)
select r.n, coalesce(verdict, case when w.grant_id is null then 'skipped' when is_there then 'updated, token: scope or time'
                                   else coalesce('forced, ' || doubt, 'imported') end) as verdict
  from located r left join written w using (token_hash);

-- import-list-ended(boolean) → digest text
select sha256(convert_to('client_id ' || client_id, 'UTF8'))::text as digest from audit_events where kind = 'client_deleted'
 union all select former.digest
  from audit_events e cross join lateral jsonb_array_elements_text(detail -> 'names') former (digest) left join users u using (user_id)
 where kind in ('user_deleted', 'user_updated') and (kind = 'user_deleted' or u.user_id is null or not $1
       and former.digest is distinct from sha256(convert_to('login ' || login_key, 'UTF8'))::text
       and former.digest is distinct from sha256(convert_to('external_id ' || external_id, 'UTF8'))::text);

-- import-lock-clients(text[]) → clientId text, verified boolean, status text, revision integer, createdAt timestamp with time zone, name text, redirectUri text, allowedRights text[], site text, logo text, reviewed boolean, userLimits boolean, oauth21 boolean, eventsUri text, eventsInternal boolean, most json
select client_id as "clientId", verified, status, revision, created_at as "createdAt", name, redirect_uri as "redirectUri", allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, events_uri as "eventsUri", events_internal as "eventsInternal",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most from clients where client_id = any ($1::text[]) order by client_id for share;

-- import-lock-users(text[]) → nothing
with found as materialized (
    select user_id
      from unnest($1::text[]) key
     cross join lateral (select user_id from users where login_key = key offset 0) u
     order by user_id
  )
  select from found f cross join lateral (select from users where user_id = f.user_id offset 0 for no key update) locked;

-- import-users(jsonb, text) → n integer, changed uuid, verdict text
with given as materialized (
  select * from jsonb_to_recordset($1::jsonb) as r (n int, problem text, doubt text, update boolean, login text, key text, name text, external_id text, password_hash text, payment_password_hash text, status text,
   created_at timestamptz, hashes jsonb)
), compared as materialized (
  select r.n, r.doubt, r.login, r.key, r.name, r.created_at, r.hashes, u.user_id, last, past, fields,
         coalesce(r.external_id, u.external_id) as external_id,
         case when u.user_id is null or 'password_hash' = any (fields) then r.password_hash else u.password_hash end as password_hash,
         case when u.user_id is null or 'payment_password_hash' = any (fields) then r.payment_password_hash
              else u.payment_password_hash end as payment_password_hash,
         coalesce(case when u.user_id is null or last is not null then r.status end, u.status, 'active') as status,
         case when u.user_id is null and exists (select from users where user_id = case when r.key ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then r.key::uuid end offset 0)
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
                   and (ours is null or hash_form(ours) is not null or not exists (select from audit_events where user_id = u.user_id and kind = 'user_imported' offset 0)))
              then 'login: is taken by a user with another password'
              when fields = '{}' then 'unchanged'
              when r.problem is not null then r.problem
              when split_part(coalesce(r.password_hash, u.password_hash), '$', -1)
                   = split_part(coalesce(r.payment_password_hash, u.payment_password_hash), '$', -1)
              then 'payment_password_hash: is also the hash of the password: omit it'
              when last <> 'user_imported' and fields <> '{external_id}' then 'newer_here, login: has changed here: ' || last
              end as verdict
    from given r left join lateral (select * from users where login_key = r.key offset 0) u on true
    left join lateral (
      select (array_agg(kind order by at desc))[1] as last,
             (array_agg(detail order by at desc) filter (where kind = 'user_imported'))[1] as past
        from audit_events
       where r.update and user_id = u.user_id and kind <> 'exchanged' and kind ~ '^user_|_changed$' and kind <> 'user_signed_out'
         and (detail ->> 'by' = 'import' or kind = 'user_updated' and (  -- not in a file, or judged apart
              detail -> 'fields' <@ '["login", "external_id"]' or detail - '{logo,user_limits}'::text[] = '{}')) is not true
      having bool_or(kind = 'user_imported')) i on true
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
  insert into audit_events (kind, user_id, operator, detail)
  select case when c.user_id is not null and last is null then 'user_updated' else 'user_imported' end, w.user_id, $2, case when c.user_id is null then hashes
    else case when last is null then '{}' else coalesce(past, '{}') || hashes end || jsonb_build_object('fields', fields) end from written w join compared c on login_key = key
)
select c.n, case when c.user_id is not null and fields <> '{name}' then w.user_id end as changed,
       coalesce(verdict, case when w.user_id is null then 'external_id: is taken by another user'
                              when last is null then coalesce('forced, ' || doubt, 'imported')
                              else 'updated, login: ' || array_to_string(fields || doubt, ', ') end) as verdict
  from compared c left join written w on w.login_key = c.key;

-- imported-token-find(bytea[]) → n integer, grantId uuid
select n::int as n, grant_id as "grantId" from unnest($1::bytea[]) with ordinality as input (token_hash, n) join imported_tokens using (token_hash);

-- notify-cursors-find() → endpoint text, cursor text, delivered text[], failures integer, failingSince timestamp with time zone, lastError text, isDue boolean, isPaused boolean
select endpoint, cursor, delivered, failures, failing_since as "failingSince", last_error as "lastError",
       next_try_at <= clock_timestamp() as "isDue",
       failing_since < clock_timestamp() - interval '3 days' is true as "isPaused"
  from notify_cursors order by endpoint;

-- notify-cursors-remove(text[]) → nothing
delete from notify_cursors where endpoint = any ($1::text[]);

-- notify-cursors-save(jsonb) → nothing
insert into notify_cursors as c (endpoint, cursor, delivered, failures, failing_since, last_error, next_try_at)
select endpoint, cursor, coalesce(delivered, '{}'), coalesce(failures, 0), case when failures > 0 then clock_timestamp() end, "lastError",
       clock_timestamp() + coalesce(delay, 0) * interval '1 second'
  from jsonb_to_recordset($1::jsonb)
       as r (endpoint text, cursor text, delivered text[], failures int, "lastError" text, delay float8)
on conflict (endpoint) do update
   set (cursor, delivered, failures, failing_since, last_error, next_try_at) = row (excluded.cursor, excluded.delivered, excluded.failures,
       case when excluded.failures > 1 then coalesce(c.failing_since, excluded.failing_since) else excluded.failing_since end, excluded.last_error, excluded.next_try_at);

-- notify-endpoints-find() → clientId text, uri text, isInternal boolean
select client_id as "clientId", events_uri as uri, events_internal as "isInternal" from clients where events_uri is not null;

-- notify-facts-find() → notifyFailing integer, notifyLag double precision
select count(*) filter (where failures > 0)::int as "notifyFailing",
       extract(epoch from clock_timestamp())::float8
         - max(split_part(cursor, '.', 2)) filter (where endpoint = 'trail')::float8 / 1e6 as "notifyLag"
  from notify_cursors;

-- notify-grants-find(uuid, timestamp with time zone) → grantId uuid, clientId text, instanceName text
select grant_id as "grantId", client_id as "clientId", instance_name as "instanceName"
  from grants join clients using (client_id)
 where user_id = $1 and confirmed_at <= $2 and events_uri is not null and is_live(code_expires_at, token_issued_at, revoked_at);

-- notify-language-find(uuid) → language text
select language from users where user_id = $1;

-- notify-resume(text) → lastError text
update notify_cursors set failures = 0, failing_since = null, next_try_at = clock_timestamp()
 where endpoint = $1 returning last_error as "lastError";

-- operator-find(bytea, text) → name text, status text, role text, createdAt timestamp with time zone, expiresAt timestamp with time zone, retiredAt timestamp with time zone, lastUsedOn text
with used as (
  update operators set last_used_on = current_date
   where token_hash = $1 and last_used_on is distinct from current_date)
select name, case when retired_at is not null then 'retired' when expires_at <= clock_timestamp() then 'expired' else 'active' end as status, role, created_at as "createdAt", expires_at as "expiresAt", retired_at as "retiredAt",
  to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn" from operators where token_hash = $1 or name = $2 order by status limit 1;

-- operator-find-all() → name text, status text, role text, createdAt timestamp with time zone, expiresAt timestamp with time zone, retiredAt timestamp with time zone, lastUsedOn text
select name, case when retired_at is not null then 'retired' when expires_at <= clock_timestamp() then 'expired' else 'active' end as status, role, created_at as "createdAt", expires_at as "expiresAt", retired_at as "retiredAt",
  to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn" from operators order by name;

-- operator-insert(text, text, bytea, integer, timestamp with time zone) → name text, status text, role text, createdAt timestamp with time zone, expiresAt timestamp with time zone, retiredAt timestamp with time zone, lastUsedOn text
insert into operators (name, role, token_hash, expires_at)
  values ($1, $2, $3, least(clock_timestamp() + $4::int * interval '1 day', $5))
  on conflict (name) do nothing returning name, case when retired_at is not null then 'retired' when expires_at <= clock_timestamp() then 'expired' else 'active' end as status, role, created_at as "createdAt", expires_at as "expiresAt", retired_at as "retiredAt",
  to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn";

-- operator-retire(text) → nothing
update operators set retired_at = clock_timestamp() where name = $1 and retired_at is null;

-- operator-session-delete(bytea) → nothing
delete from operator_sessions where session_hash = $1;

-- operator-session-find(bytea) → tokenHash text, operator text, source text, given text[], expiresAt timestamp with time zone, now timestamp with time zone
select token_hash::text as "tokenHash", operator, source, given, expires_at as "expiresAt", clock_timestamp() as now
    from operator_sessions where session_hash = $1 and expires_at > clock_timestamp();

-- operator-session-insert(bytea, bytea, text, text, text[], timestamp with time zone) → nothing
insert into operator_sessions (session_hash, token_hash, operator, source, given, expires_at)
  values ($1, $2, $3, $4, $5::text[],
          least($6, clock_timestamp() + interval '8 hours'));

-- operator-token-facts(timestamp with time zone[]) → tokenLeft double precision
select extract(epoch from min(expires_at) - clock_timestamp())::float8 as "tokenLeft"
  from (select expires_at from operators where retired_at is null union select unnest($1::timestamptz[])) as ends
 where expires_at > clock_timestamp();

-- own-token-find(text[], bytea[], uuid[], bytea[]) → n integer, firstUse boolean, known boolean, grantId uuid, scope text, clientId text, instanceName text, userId uuid, login text, externalId text, tokenIssuedAt timestamp with time zone, firstUseOfGrant boolean, now timestamp with time zone
select input.n::int as n, r.first_use as "firstUse",
       case when r.caller_id is null then exists (select from clients where client_id = input.caller_id) end as known, g.grant_id as "grantId", g.scope, g.client_id as "clientId",
       g.instance_name as "instanceName", g.user_id as "userId", g.login, g.external_id as "externalId",
       g.token_issued_at as "tokenIssuedAt",
       g.first_use as "firstUseOfGrant", clock_timestamp() as now
  from unnest($1::text[], $2::bytea[], $3::uuid[], $4::bytea[]) with ordinality as input (caller_id, secret_hash, grant_id, token_hash, n)
  left join (
    select s.client_id as caller_id, s.secret_hash, s.last_used_on is distinct from current_date as first_use
      from client_secrets s join clients using (client_id)
     where s.retired_at is null and status = 'active'
  ) r on r.caller_id = input.caller_id and r.secret_hash = input.secret_hash
  left join lateral (
    select g.*, u.login, u.external_id, g.last_used_on is distinct from (clock_timestamp() at time zone 'UTC')::date and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) as first_use
      from (select * from grants where grant_id = coalesce(input.grant_id, (select i.grant_id from imported_tokens i where i.token_hash = input.token_hash)) offset 0) g
     cross join lateral (select status from clients where client_id = g.client_id offset 0) c
     cross join lateral (select status, login, external_id from users where user_id = g.user_id offset 0) u
     where c.status = 'active' and u.status = 'active' and g.token_hash = input.token_hash and g.revoked_at is null
  ) g on r.caller_id is not null and g.client_id = input.caller_id;

-- payment-release(uuid, text, timestamp with time zone) → verdict text, late boolean
with locked as materialized (
  select grant_id from grants where grant_id = $1 for no key update
), moment as materialized (
  select clock_timestamp() >= $3::timestamptz as late
    from (select (select count(*) from locked) as rows) locked where rows >= 0
), released as (
  update payment_reservations p set released_at = clock_timestamp()
    from locked, moment
   where p.grant_id = locked.grant_id and p.key = $2 and p.released_at is null and not late
     and (p.days is null or p.paid_at > clock_timestamp() - p.days * interval '24 hours')
  returning p.key
)
select case when p.key is null then 'unknown'
            when p.released_at is not null or exists (select from released) then 'released'
            else 'too_late' end as verdict, late
  from moment left join payment_reservations p on p.grant_id = $1 and p.key = $2;

-- payment-reserve(uuid[], bytea[], text[], text[], bytea[], text[], bytea[], numeric[], integer[], numeric[], numeric[], timestamp with time zone[], timestamp with time zone) → n integer, verdict text, isNew boolean, late boolean, used text, freeAgain timestamp with time zone
with requests as materialized (
  select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::bytea[], $8::numeric[], $9::int[], $10::numeric[], $11::numeric[], $12::timestamptz[]) with ordinality as input (grant_id, token_hash, scope, key, payment_hash, refusal, budget, amount, days, most, largest, ends_at, n)
), locked as materialized (
  select * from grants where grant_id = any ($1::uuid[])
   order by grant_id for no key update
), shared as materialized (
  select pg_advisory_xact_lock_shared(7274829) from (select count(*) as rows from locked) l where rows >= 0
), moment as materialized (
  select clock_timestamp() >= $13::timestamptz as late
    from (select (select count(*) from locked) + (select count(*) from shared) as rows) locked where rows >= 0
), timed as materialized (
  select * from requests cross join moment
), judged as materialized (
  select r.*, g.token_issued_at, s.used, s.total, s.at, s.oldest_at,
    case when g.grant_id is null or g.token_hash is distinct from r.token_hash or not p.is_active
         or not is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) then 'inactive'
         when p.known = r.payment_hash and not p.was_released then 'reserved'
         when p.known = r.payment_hash then 'released'
         when p.known is not null then 'key_reused'
         when r.late then 'late'
         when g.scope <> r.scope then 'changed'
         when r.refusal is not null then r.refusal
         when r.ends_at <= s.at then 'ended'
         when r.days is null and s.used > 0 then 'used_up'
         when r.days is null and r.amount <> r.most then 'other_amount'
         when r.amount > r.largest then 'over_largest'
         when s.used + r.amount > r.most then 'over_budget'
         else 'to_reserve' end as verdict
  from timed r
  left join locked g on g.grant_id = r.grant_id
  left join lateral payment_state(g.grant_id, r.key, g.user_id, g.client_id) p on g.grant_id is not null
  left join lateral spent(g.grant_id, r.budget, r.days, g.token_issued_at) s on g.grant_id is not null
), written as (
  insert into payment_reservations (grant_id, budget, paid_at, key, payment_hash, amount, total, days, token_issued_at)
  select grant_id, budget, at, key, payment_hash, amount, total + amount, days, token_issued_at
    from judged where verdict = 'to_reserve'
  returning grant_id
)
select j.n::int as n, case when w.grant_id is null then j.verdict else 'reserved' end as verdict,
       w.grant_id is not null as "isNew", j.verdict = 'late' as late,
       (j.used + case when w.grant_id is null then 0 else j.amount end)::text as used,
       coalesce(j.oldest_at, case when w.grant_id is not null then j.at end) + j.days * interval '24 hours' as "freeAgain"
  from judged j left join written w using (grant_id);

-- payments-remove() → nothing
delete from payment_reservations where (grant_id, budget, paid_at) in (
  select grant_id, budget, paid_at from payment_reservations p join grants g using (grant_id)
   where p.paid_at < clock_timestamp() - interval '24 hours'
     and p.paid_at < clock_timestamp() - 
  (select coalesce(max(found[1]::int), 1) from regexp_matches(g.scope, '\.limit\((\d+),', 'g') found) * interval '24 hours'
     and (p.days is not null or p.token_issued_at is distinct from g.token_issued_at)
   limit 20000);

-- refusal-find(text, text) → at timestamp with time zone, reference text, method text, path text, status integer, error text, rule text, ruleId text, clientId text, clientName text, network text
select at, reference, method, path, r.status, error, rule, rule_id as "ruleId", client_id as "clientId", name as "clientName", network::text
    from refusals r left join clients using (client_id)
   where ($1::text is null or reference = $1) and ($2::text is null or client_id = $2)
     and at > clock_timestamp() - interval '7 days'
   order by at desc limit 50;

-- refusal-insert(bigint[], timestamp with time zone[], text[], text[], text[], integer[], text[], text[], text[], text[]) → nothing
insert into refusals (network, at, reference, method, path, status, error, rule, rule_id, client_id)
select network, at, reference, method, path, status, error, rule, rule_id,
       (select client_id from clients where client_id = r.client_id)
  from (select *, row_number() over (partition by network order by n) as place
          from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::text[], $10::text[]) with ordinality as input (network, at, reference, method, path, status, error, rule, rule_id, client_id, n)) r
 where place + (select count(*) from (select from refusals kept where kept.network = r.network and kept.at > clock_timestamp() - interval '600000 milliseconds'
                                       limit 60) recent) <= 60
on conflict (slot) do update
   set network = excluded.network, at = excluded.at, reference = excluded.reference, method = excluded.method, path = excluded.path,
       status = excluded.status, error = excluded.error, rule = excluded.rule, rule_id = excluded.rule_id,
       client_id = excluded.client_id;

-- request-find(text[], bytea[]) → n integer, clientId text, verified boolean, status text, revision integer, createdAt timestamp with time zone, name text, redirectUri text, allowedRights text[], site text, logo text, reviewed boolean, userLimits boolean, oauth21 boolean, eventsUri text, eventsInternal boolean, most json, sessionHash bytea, userId uuid, login text, userName text, userStatus text, externalId text, paymentPasswordHash text, now timestamp with time zone, unseen boolean
select n::int as n, c.*, s.* from unnest($1::text[], $2::bytea[]) with ordinality as input (client_id, session_hash, n)
  left join lateral (select client_id as "clientId", verified, status, revision, created_at as "createdAt", name, redirect_uri as "redirectUri", allowed_rights as "allowedRights", site, logo, reviewed, user_limits as "userLimits", oauth21, events_uri as "eventsUri", events_internal as "eventsInternal",
  case when most_days is not null then json_build_object('days', most_days, 'sum', most_sum::text) end as most from clients where client_id = input.client_id offset 0) c on true
  left join lateral (
select s.session_hash as "sessionHash", u.user_id as "userId", u.login, u.name as "userName", u.status as "userStatus",
       u.external_id as "externalId", u.payment_password_hash as "paymentPasswordHash", clock_timestamp() as now,
       s.seen_at < clock_timestamp() - interval '1 minute' as unseen
  from (select * from sessions where session_hash = input.session_hash offset 0) s
 cross join lateral (select * from users where user_id = s.user_id offset 0) u
 where u.status = 'active' and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')) s on true;

-- resource-delete(text) → resource_id text
delete from resources where resource_id = $1 returning resource_id;

-- resource-find(text) → resourceId text, name text, status text
select resource_id as "resourceId", name, status from resources where resource_id = $1;

-- resource-insert(text, text) → nothing
insert into resources (resource_id, name) values ($1, $2) on conflict do nothing;

-- resource-secret-insert(text, text, bytea) → nothing
insert into resource_secrets (resource_id, secret_id, secret_hash) values ($1, $2, $3)
      on conflict (resource_id, secret_hash) do nothing;

-- resource-secret-list(text) → secretId text, createdAt timestamp with time zone, lastUsedOn text, retiredAt timestamp with time zone
select secret_id as "secretId", created_at as "createdAt", to_char(last_used_on, 'YYYY-MM-DD') as "lastUsedOn",
             retired_at as "retiredAt"
        from resource_secrets where resource_id = $1 order by created_at, secret_id;

-- resource-secret-mark-used(text[], bytea[]) → nothing
update resource_secrets set last_used_on = current_date
   where (resource_id, secret_hash) in (
           select resource_id, secret_hash from resource_secrets
            where (resource_id, secret_hash) in (select caller_id, secret_hash from unnest($1::text[], $2::bytea[]) with ordinality as input (caller_id, secret_hash, n))
              for no key update skip locked);

-- resource-secret-retire(text, text, boolean) → found boolean, retired boolean
with accepted as (
        select secret_id from resource_secrets s where resource_id = $1 and s.retired_at is null order by secret_id for update
      ), retired as (
        update resource_secrets s set retired_at = clock_timestamp()
         where resource_id = $1 and secret_id = $2 and s.retired_at is null
           and ($3 or (select count(*) from accepted) > 1)
        returning secret_id
      )
      select exists (select from accepted where secret_id = $2) as found,
             exists (select from retired) as retired;

-- resource-set-status(text, text) → changed boolean
with alone as materialized (
      select pg_advisory_xact_lock(7274829)
    ), changed as (
      update resources set status = $1 from alone
       where resource_id = $2 and status <> $1 returning resource_id
    )
    select exists (select from changed) as changed from resources where resource_id = $2;

-- schema-exists() → found boolean
select exists (select from pg_attribute
                  where attrelid = to_regclass('schema_migrations') and attname = 'applied_at') as found;

-- schema-facts() → schemaVersion integer, monthsAhead integer
select (select max(version)::int from schema_migrations) as "schemaVersion", (select count(*)::int from (
         select inhrelid as id, relname as name,
                to_date(substring(relname, '^audit_events_([0-9]{4}_[0-9]{2})$'), 'YYYY_MM') as month
           from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent = 'audit_events'::regclass) as partitions where month > date_trunc('month', clock_timestamp() at time zone 'UTC')) as "monthsAhead";

-- schema-version(integer) → version integer, oldest integer
select coalesce(max(version), 0)::int as version,
         max(coalesce(oldest_build, version)) filter (where version > $1) as oldest from schema_migrations;

-- session-delete(bytea, text, text) → nothing
with ended as (
  delete from sessions where session_hash = $1 returning user_id
)
insert into audit_events (kind, user_id, address, reference)
  select 'signed_out', user_id, $2, $3 from ended;

-- session-delete-of-user(uuid) → nothing
delete from sessions where user_id = $1;

-- session-find(bytea[]) → n integer, sessionHash bytea, userId uuid, login text, userName text, userStatus text, externalId text, paymentPasswordHash text, now timestamp with time zone, unseen boolean
select n::int as n, s.* from unnest($1::bytea[]) with ordinality as input (session_hash, n) cross join lateral (
select s.session_hash as "sessionHash", u.user_id as "userId", u.login, u.name as "userName", u.status as "userStatus",
       u.external_id as "externalId", u.payment_password_hash as "paymentPasswordHash", clock_timestamp() as now,
       s.seen_at < clock_timestamp() - interval '1 minute' as unseen
  from (select * from sessions where session_hash = input.session_hash offset 0) s
 cross join lateral (select * from users where user_id = s.user_id offset 0) u
 where u.status = 'active' and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')) s;

-- session-insert(uuid, text, text, bytea, bytea, text, text, text, boolean, text, text, timestamp with time zone) → valid boolean, language text, late boolean
with locked as (
  select user_id, language from users
   where user_id = $1 and (password_hash = $2 or external_id = $3) and status = 'active' for share
), ending as (
  select s.session_hash from sessions s, locked
   where s.session_hash = $4 or (s.user_id = locked.user_id and ((s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours') or s.session_hash in (
           select session_hash from sessions where user_id = $1
            order by created_at desc offset 99)))
   order by s.session_hash for update of s
), moment as materialized (
  select clock_timestamp() >= $12::timestamptz as late
    from (select (select count(*) from locked) + (select count(*) from ending) as rows) locked where rows >= 0
), signed_in as (
  insert into sessions (session_hash, user_id, browser, system, network)
  select $5, user_id, $6, $7, $8 from locked, moment where not late
), ended as (
  delete from sessions s using ending, moment where s.session_hash = ending.session_hash and not late
), logged as (
  insert into audit_events (kind, user_id, detail, address, reference)
  select 'signed_in', user_id, jsonb_build_object('known_device', $9::boolean, 'browser', $6::text, 'system', $7::text,
  'session', substr(encode(sha256($5::bytea), 'hex'), 1, 32)), $10, $11 from locked, moment where not late
)
select exists (select from locked) as valid, (select language from locked) as language, late from moment;

-- session-lock-try(bigint) → locked boolean
select pg_try_advisory_lock($1::bigint) as locked;

-- session-mark-seen(bytea[]) → nothing
update sessions set seen_at = clock_timestamp()
 where session_hash = any (array(
   select session_hash from sessions where session_hash = any ($1::bytea[]) for no key update skip locked));

-- settings-find() → name text, value text
select name, value from settings;

-- settings-keep(json) → nothing
insert into settings (name, value) select key, value from json_each_text($1::json)
   where not exists (select from settings where name = 'currency' and value <> $1::json ->> 'currency')
  on conflict (name) do update set value = excluded.value, set_at = clock_timestamp()
   where settings.name <> 'currency' and settings.value <> excluded.value;

-- throttle-end-waits(uuid) → nothing
update throttles set level = 0, free_at = clock_timestamp() where slot in (
  select slot from throttles where user_id = $1 and level > 0 order by slot for update);

-- throttle-find(integer[]) → slot integer, level double precision, countedAt timestamp with time zone, freeAt timestamp with time zone, now timestamp with time zone
with clock as materialized (select clock_timestamp() as now)
select input.slot, coalesce(level, 0) as level, coalesce(counted_at, now) as "countedAt", coalesce(free_at, now) as "freeAt", now
  from unnest($1::int[]) as input (slot) cross join clock left join throttles using (slot);

-- throttle-find-wait(uuid) → seconds integer
select coalesce(ceil(extract(epoch from max(free_at) - clock_timestamp())), 0)::int as seconds
  from throttles where user_id = $1 and free_at > clock_timestamp();

-- throttle-lock(integer[]) → slot integer, level double precision, countedAt timestamp with time zone, freeAt timestamp with time zone, now timestamp with time zone
insert into throttles as t (slot) select input.slot from unnest($1::int[]) as input (slot) order by input.slot
on conflict (slot) do update set level = t.level
returning slot, level, counted_at as "countedAt", free_at as "freeAt", clock_timestamp() as now;

-- throttle-note-guess(integer, integer[], uuid, text, text, text) → nothing
with waiting as (
  select slot, slot = $1 and coalesce(noted_at < clock_timestamp() - interval '1 hour', true) as is_due
    from throttles where slot = any ($2::int[]) order by slot for update
), noted as (
  update throttles t set user_id = $3, noted_at = case when is_due then clock_timestamp() else noted_at end
    from waiting where t.slot = waiting.slot returning is_due
)
insert into audit_events (kind, user_id, address, reference)
  select $4, $3, $5, $6 from noted where is_due and $3::uuid is not null;

-- throttle-update(integer[], double precision[], timestamp with time zone[], timestamp with time zone[]) → nothing
update throttles t set level = input.level, counted_at = input.counted_at, free_at = input.free_at
  from unnest($1::int[], $2::float8[], $3::timestamptz[], $4::timestamptz[]) with ordinality as input (slot, level, counted_at, free_at, n) where t.slot = input.slot;

-- token-find(text[], bytea[], uuid[], bytea[]) → n integer, firstUse boolean, known boolean, grantId uuid, scope text, clientId text, instanceName text, userId uuid, login text, externalId text, tokenIssuedAt timestamp with time zone, firstUseOfGrant boolean, now timestamp with time zone
select input.n::int as n, r.first_use as "firstUse",
       case when r.caller_id is null then exists (select from resources where resource_id = input.caller_id) end as known, g.grant_id as "grantId", g.scope, g.client_id as "clientId",
       g.instance_name as "instanceName", g.user_id as "userId", g.login, g.external_id as "externalId",
       g.token_issued_at as "tokenIssuedAt",
       g.first_use as "firstUseOfGrant", clock_timestamp() as now
  from unnest($1::text[], $2::bytea[], $3::uuid[], $4::bytea[]) with ordinality as input (caller_id, secret_hash, grant_id, token_hash, n)
  left join (
    select s.resource_id as caller_id, s.secret_hash, s.last_used_on is distinct from current_date as first_use
      from resource_secrets s join resources using (resource_id)
     where s.retired_at is null and status = 'active'
  ) r on r.caller_id = input.caller_id and r.secret_hash = input.secret_hash
  left join lateral (
    select g.*, u.login, u.external_id, g.last_used_on is distinct from (clock_timestamp() at time zone 'UTC')::date and is_live(g.code_expires_at, g.token_issued_at, g.revoked_at) as first_use
      from (select * from grants where grant_id = coalesce(input.grant_id, (select i.grant_id from imported_tokens i where i.token_hash = input.token_hash)) offset 0) g
     cross join lateral (select status from clients where client_id = g.client_id offset 0) c
     cross join lateral (select status, login, external_id from users where user_id = g.user_id offset 0) u
     where c.status = 'active' and u.status = 'active' and g.token_hash = input.token_hash and g.revoked_at is null
  ) g on r.caller_id is not null and true;

-- user-change-passwords(uuid, text, text, bytea, text, text, text, text, timestamp with time zone) → changed boolean, late boolean
with locked as materialized (
  select user_id from users
   where user_id = $1 and status = 'active' and password_hash is not distinct from $2
     and payment_password_hash is not distinct from $3
     for no key update
), locked_sessions as materialized (
  select s.session_hash, s.session_hash = $4 and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours') as asks
    from sessions s where s.user_id = any (array(select user_id from locked))
   order by s.session_hash for update
), moment as materialized (
  select clock_timestamp() >= $9::timestamptz as late
    from (select (select count(*) from locked) + (select count(*) from locked_sessions) as rows) locked where rows >= 0
), changed as (
  update users u
     set password_hash = case $5 when 'password_changed' then $6 else password_hash end,
         payment_password_hash = case $5 when 'payment_password_changed' then $6 else payment_password_hash end
    from locked, moment where u.user_id = locked.user_id and not late and exists (select from locked_sessions where asks)
  returning u.user_id
), ended as (
  delete from sessions s using changed where s.user_id = changed.user_id and s.session_hash <> $4
), logged as (
  insert into audit_events (kind, user_id, address, reference)
  select $5, user_id, $7, $8 from changed
)
select exists (select from changed) as changed, late from moment;

-- user-count-decision(uuid) → nothing
update users u set decisions = greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) + 1, decided_at = clock_timestamp() where u.user_id = $1 and greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / 2) < 1000;

-- user-count-foreign-hashes() → form text, count integer
select readable_form(hash) as form, count(*)::int as count
    from (select unnest(array[password_hash, payment_password_hash]) as hash from users) hashes
   where hash_form(hash) is not null group by 1 order by 2 desc, 1;

-- user-delete(uuid) → user_id uuid
delete from users where user_id = $1 returning user_id;

-- user-find(text, text) → userId uuid, login text, name text, status text, externalId text, passwordHash text, paymentPasswordHash text
select user_id as "userId", login, name, status, external_id as "externalId", password_hash as "passwordHash", payment_password_hash as "paymentPasswordHash" from users where user_id = case when $1 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $1::uuid end or login_key = $2
   order by login_key = $2 limit 1;

-- user-find-by-external-id(text) → userId uuid, login text, name text, status text, externalId text
select user_id as "userId", login, name, status, external_id as "externalId" from users where external_id = $1;

-- user-find-by-key(text) → userId uuid, login text, name text, status text, externalId text, passwordHash text, paymentPasswordHash text
select user_id as "userId", login, name, status, external_id as "externalId", password_hash as "passwordHash", payment_password_hash as "paymentPasswordHash" from users where login_key = $1;

-- user-find-foreign-hash(uuid) → hash text
with any_users as materialized (
  select password_hash as hash from users where hash_form(password_hash) is not null
   order by hash_form(password_hash) limit 100
), near as (
  select password_hash from users where user_id >= $1 and exists (select from any_users) order by user_id limit 100
)
select hash from (table near union all table any_users) found(hash)
 where hash_form(hash) is not null and readable_form(hash) is not null limit 1;

-- user-insert(text, text, text, text, text) → userId uuid
insert into users (login, login_key, name, password_hash, payment_password_hash)
  select $1, $2, $3, $4, $5
   where not exists (select from users where user_id = case when $2 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $2::uuid end)
  on conflict (login_key) do nothing returning user_id as "userId";

-- user-insert-external(text, text, text, text, text[], text, text) → userId uuid, login text, name text, status text, externalId text
with made as (
  insert into users (login, login_key, name, external_id) select $1, $2, $3, $4
   where not exists (select from users where (login_look(login_key) = any (array(select login_look(look) from unnest($5::text[]) look))
  or external_id in ($1, $2) or user_id = case when $2 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $2::uuid end))
  on conflict do nothing returning *
), logged as (
  insert into audit_events (kind, user_id, detail, address, reference)
  select 'user_created', user_id, '{"by": "provider"}'::jsonb, $6, $7 from made
)
select user_id as "userId", login, name, status, external_id as "externalId" from made;

-- user-lock(uuid) → nothing
select from users where user_id = $1 for no key update;

-- user-renew-hash(text, text, uuid, text) → hash text
update users set password_hash = case password_hash when $1 then $2 else password_hash end,
                 payment_password_hash = case payment_password_hash when $1 then $2 else payment_password_hash end
 where user_id = $3 and status = 'active'
returning case $4 when 'password' then password_hash else payment_password_hash end as hash;

-- user-session-end(uuid, bytea, text, text, text) → nothing
with ended as (
  delete from sessions where session_hash = any (array(
    select s.session_hash from sessions s
     where s.user_id = $1 and s.session_hash <> $2 and ($3::text is null or substr(encode(sha256(s.session_hash), 'hex'), 1, 32) = $3)
     order by s.session_hash for update))
  returning user_id
)
insert into audit_events (kind, user_id, address, reference)
  select case when $3::text is null then 'other_sessions_ended' else 'session_ended' end, user_id, $4, $5 from (select distinct user_id from ended) user_of_them;

-- user-session-list(bytea, uuid) → sessionId text, isCurrent boolean, createdAt timestamp with time zone, seenAt timestamp with time zone, browser text, system text, network text
select substr(encode(sha256(s.session_hash), 'hex'), 1, 32) as "sessionId", s.session_hash = $1 as "isCurrent", s.created_at as "createdAt",
         s.seen_at as "seenAt", s.browser, s.system, s.network
    from sessions s where s.user_id = $2 and not (s.seen_at < clock_timestamp() - interval '30 minutes'
                     or s.created_at < clock_timestamp() - interval '12 hours')
   order by s.session_hash = $1 desc, s.seen_at desc, s.session_hash;

-- user-set-language(text, uuid) → nothing
update users set language = $1 where user_id = $2 and language is distinct from $1;

-- user-set-passwords(text, text, uuid) → changed boolean
update users set password_hash = $1,
                   payment_password_hash = coalesce($2, payment_password_hash)
   where user_id = $3 returning true as changed;

-- user-set-status(text, uuid) → changed boolean
with alone as materialized (
      select pg_advisory_xact_lock(7274829)
    ), changed as (
      update users set status = $1 from alone
       where user_id = $2 and status <> $1 returning user_id
    )
    select exists (select from changed) as changed from users where user_id = $2;

-- user-update(text, text, text, text, uuid) → userId uuid, login text, name text, status text, externalId text
update users u set login = coalesce($1, login), login_key = coalesce($2, login_key), name = coalesce($3, name),
         external_id = nullif(coalesce($4, external_id), '')
   where user_id = $5 and not exists (
     select from users where user_id <> u.user_id
        and (login_key = $2 or external_id = $4 or user_id = case when $2 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $2::uuid end))
  returning user_id as "userId", login, name, status, external_id as "externalId";

-- user-update-external(text, text, text, uuid, text[], text[], text, text) → userId uuid, login text, name text, status text, externalId text
with renamed as (
  update users u set name = $1, login = $2, login_key = $3 where user_id = $4 and status = 'active'
     and not exists (select from users where user_id <> u.user_id and (login_look(login_key) = any (array(select login_look(look) from unnest($5::text[]) look))
  or external_id in ($2, $3) or user_id = case when $3 ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then $3::uuid end)) returning *
), logged as (
  insert into audit_events (kind, user_id, detail, address, reference)
  select 'user_updated', user_id, jsonb_build_object('by', 'provider', 'fields', $6::text[]), $7, $8 from renamed
)
select user_id as "userId", login, name, status, external_id as "externalId" from renamed;
