-- Serves builds from schema version 1 on.
-- The store of contract sections 2 and 3: applications, users, one row per authorization, and the trail of what happened.
-- Secrets, codes, tokens and ids of sessions are here only as SHA-256, passwords only as argon2id, or as another service hashed
-- them. Identifiers are compared byte by byte: in the order of a locale an index is wrong as soon as another version of ICU or
-- of the C library sorts otherwise. `fillfactor` leaves room on a page for the next version of a row, so that an update changes
-- no index. Tables that change all the time are vacuumed when one row in twenty or fifty is dead, not one in five.

create table clients (
  client_id      text collate "C" primary key,
  name           text not null,
  redirect_uri   text not null,
  verified       boolean not null,                                      -- registered with authenticity verification (2.1)
  status         text not null default 'active' check (status in ('active', 'blocked')),
  allowed_rights text[],                                                -- null: every right of the catalogue
  created_at     timestamptz not null default clock_timestamp(),
  revision       integer not null default 1,                            -- of name, redirect URI, rights and ceiling together
  most_days      integer check (most_days between 1 and 9999),          -- the ceiling of a right that spends
  most_sum       numeric check (most_sum > 0),
  site           text check (site like 'https://%'),
  logo           text check (logo ~ '^[0-9a-f]{32}\.(svg|png)$'),       -- the file in client_logos; null: none
  reviewed       boolean not null default false,                        -- an operator has looked at the application
  user_limits    boolean not null default false,                        -- users may lower its limits for periods
  oauth21        boolean not null default false,                        -- must use PKCE, may choose a loopback port, gets `iss`
  check ((most_days is null) = (most_sum is null))
);

-- A verified application without a secret can't exchange anything: it never becomes an unverified one.
create table client_secrets (
  client_id    text collate "C" not null references clients on delete cascade,
  secret_id    text collate "C" not null,
  secret_hash  bytea not null check (octet_length(secret_hash) = 32),
  created_at   timestamptz not null default clock_timestamp(),
  last_used_on date,
  retired_at   timestamptz,
  primary key (client_id, secret_hash),
  unique (client_id, secret_id)
);

-- Apart from clients, so that what each request reads of an application stays short.
create table client_logos (
  client_id text collate "C" primary key references clients on delete cascade,
  file      text not null,
  body      bytea not null check (octet_length(body) between 1 and 65536)
);

create table users (
  user_id               uuid primary key default gen_random_uuid(),
  login                 text not null,                                  -- as it was registered
  login_key             text collate "C" not null unique,               -- compared at sign-in: the same in either case
  name                  text not null,
  password_hash         text collate "C",                               -- null: the user signs in at a provider
  payment_password_hash text,
  status                text not null default 'active' check (status in ('active', 'blocked')),
  created_at            timestamptz not null default clock_timestamp(),
  decisions             double precision not null default 0,            -- decisions, less those forgotten since
  decided_at            timestamptz not null default clock_timestamp(),
  language              text,                                           -- chosen on a page, by its tag
  external_id           text collate "C" check (length(external_id) between 1 and 255)  -- `sub` of OpenID Connect
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create unique index users_external_id_idx on users (external_id) where external_id is not null;

-- How a password is hashed, with all parameters: null for our own way (`src/secrets/passwordThread.js`) and for no password.
create function hash_form(hash text) returns text language sql immutable parallel safe
  return case when hash like '$argon2id$v=19$m=19456,t=2,p=1$%' then null
              when hash like '$2%' then left(hash, 6)
              else regexp_replace(hash, '\$[^$]*\$[^$]*$', '') end;
create index users_foreign_hash_idx on users (hash_form(password_hash)) where hash_form(password_hash) is not null;

-- The form of a hash that we read, with all parameters: null for all other text, of which nothing may be shown. `readHash` in
-- `src/secrets/foreignHash.js` is the same in JavaScript. The last letter of `whole` base64 has no bits to spare.
create function readable_form(hash text) returns text language plpgsql immutable parallel safe as $$
declare
  label constant text := '^(\{(argon2|bcrypt)(@[A-Za-z0-9_]+)?\}(?=\$)|argon2(?=\$argon2)|bcrypt\$(?=\$2))';
  bare constant text := regexp_replace(hash, label, '');
  part constant text[] := string_to_array(bare, '$');
  form constant text := array_to_string(trim_array(part, least(2, cardinality(part))), '$');
  salt text := part[cardinality(part) - 1];
  key text := part[cardinality(part)];
  whole constant text := '^(.{4})*(.[AQgw]|..[AEIMQUYcgkosw048])?$';
  n numeric[];
begin
  if bare ~ '^\$2[aby]\$(0[4-9]|1[0-4])\$[A-Za-z0-9./]{21}[.Oeu][A-Za-z0-9./]{30}[.CGKOSWaeimquy26]$' then return left(bare, 6); end if;
  if form ~ '^pbkdf2_' then
    salt := translate(encode(convert_to(salt, 'UTF8'), 'base64'), E'=\n', '');
    key := regexp_replace(key, '={1,2}$', '');
  end if;
  if length(salt) not between 11 and 86 or length(key) not between 22 and 86 or length(key) * 3 / 4 % 4 <> 0
    or salt || key !~ '^[A-Za-z0-9+/.]+$' or salt !~ whole or key !~ whole
    or form !~ ('^(\$argon2(d|i|id)\$v=(16|19)\$m=[1-9][0-9]{0,5},t=[1-9][0-9]{0,5},p=[1-9][0-9]?|pbkdf2_sha(256|512)\$[1-9][0-9]{0,6}|'
      '\$pbkdf2-sha(256|512)\$(i=)?[1-9][0-9]{0,6}(,l=[0-9]{2})?|\$scrypt\$ln=[1-9][0-9]?,r=[1-9][0-9]{0,4},p=[1-9][0-9]?)$')
  then return null; end if;
  n := string_to_array(translate(split_part(form, '$', -1), 'abcdefghijklmnopqrstuvwxyz=', ''), ',');
  return case when case left(form, 3)
      when '$ar' then n[3] <= 16 and n[1] >= 8 * n[3] and n[1] <= 131072 and n[1] * n[2] <= 1048576 and position('.' in salt || key) = 0
      when '$sc' then n[3] <= 16 and n[1] < 16 * n[2] and 128 * 2 ^ n[1] * n[2] * n[3] <= 134217728
      else n[1] <= 2000000 and coalesce(nullif(n[2], 0), length(key) * 3 / 4) = length(key) * 3 / 4
    end then form end;
end $$;

-- A session is at most 12 hours old, so its age finds those that have expired, and never changes: noting that one was seen
-- stays a HOT update.
create table sessions (
  session_hash bytea primary key check (octet_length(session_hash) = 32),
  user_id      uuid not null references users on delete cascade,
  created_at   timestamptz not null default clock_timestamp(),
  seen_at      timestamptz not null default clock_timestamp(),
  browser      text,                                                    -- names that we know, not the user agent
  system       text,
  network      text                                                     -- such as 203.0.113.0/24
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index sessions_user_id_idx on sessions (user_id);
create index sessions_created_at_idx on sessions (created_at);

-- One row per (user, application, instance): grant_id is computed from these three, so there can't be a second. A new
-- authorization overwrites the row, which annuls the earlier code and token (1.5, section 3). No index has a column that an
-- exchange or a revocation changes: they are HOT updates.
create table grants (
  grant_id        uuid primary key,
  user_id         uuid not null references users on delete cascade,
  client_id       text collate "C" not null references clients on delete cascade,
  instance_name   text check (instance_name <> ''),
  revision        integer not null check (revision > 0),
  scope           text not null,
  redirect_uri    text not null,
  code_hash       bytea not null check (octet_length(code_hash) = 32),
  code_expires_at timestamptz not null,
  code_challenge  text,
  token_hash      bytea check (octet_length(token_hash) = 32),
  token_issued_at timestamptz,
  confirmed_at    timestamptz not null,
  revoked_at      timestamptz,
  client_revision integer not null default 1,                           -- the client's, when the user decided
  last_used_on    date,                                                 -- the day (UTC) of the token's last introspection
  lowered         boolean not null default false,                       -- the scope is less than was requested
  check ((token_hash is null) = (token_issued_at is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index grants_client_id_idx on grants (client_id);
-- In the order of the account page, so that one page of it is read and no more; it also finds a user's grants.
create index grants_account_idx on grants (user_id, confirmed_at, grant_id);

-- Another service's tokens name no row. The token is still the grant's only while `grants.token_hash` is the same.
create table imported_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  grant_id   uuid not null unique references grants on delete cascade
);

-- Contract section 8, as `src/rules/common/lifetimes.ts` has it: 3 years, or 6 months from before 7 February 2018, in UTC. It has
-- no search_path of its own: its body is parsed here, so its names are bound, and with settings it would never be inlined, which
-- costs a call for each row that an approval or a page counts.
create function is_live(code_expires_at timestamptz, token_issued_at timestamptz, revoked_at timestamptz) returns boolean
  language sql volatile
  return revoked_at is null and clock_timestamp() < case
    when token_issued_at is null then code_expires_at
    when token_issued_at < '2018-02-07T00:00:00Z' then (token_issued_at at time zone 'UTC' + interval '6 months') at time zone 'UTC'
    else (token_issued_at at time zone 'UTC' + interval '36 months') at time zone 'UTC'
  end;

-- Volatile: each of its queries sees what was committed before it, so a caller with a lock on the user sees what the approval
-- before has written. A statement sees only what was there when it began.
create function may_hold(asked uuid, of_user uuid, of_client text, most integer) returns boolean
  language plpgsql volatile as $$
begin
  return exists (select from grants where grant_id = asked and is_live(code_expires_at, token_issued_at, revoked_at))
      or most > (select count(*) from (
           select from (select * from grants where user_id = of_user offset 0) g
            where client_id = of_client and is_live(code_expires_at, token_issued_at, revoked_at)
            limit most) live);
end
$$;

-- Rejections, for as long as their forms are good: the same one is not noted again.
create table rejections (
  page_hash  bytea primary key check (octet_length(page_hash) = 32),    -- of the page that was rejected
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index rejections_expires_at_idx on rejections (expires_at);

-- A statement sees the rows of its beginning; a function that it calls after its locks sees those of the call. So the first of
-- Allow and Reject of one page that commits decides. `answered` is the page, `code` the hash of the code that Allow gives.
create function answer_to(answered bytea, asked uuid, code bytea) returns text language plpgsql as $$
begin
  if exists (select from rejections where page_hash = answered) then return 'rejected'; end if;
  if exists (select from grants where grant_id = asked and code_hash = code) then return 'allowed'; end if;
  return null;
end $$;

-- What happened: who allowed what from where, append-only, a partition for each month. No foreign keys: it outlives what it
-- speaks of.
create table audit_events (
  at            timestamptz not null default clock_timestamp(),
  kind          text not null,                                          -- the outcome: approved, exchanged, revoked_by_user, …
  grant_id      uuid,
  user_id       uuid,
  client_id     text,
  instance_name text,
  scope         text,
  limits        jsonb,                                                  -- as the rules read them at that time
  address       text,                                                   -- null: not asked for by HTTP
  reference     text,                                                   -- the one of the log line
  operator      text,                                                   -- who gave the command; null: no operator did
  resource_id   text,
  detail        jsonb                                                   -- ids and settings: no secret, no person's name
) partition by range (at);

-- Takes a row whose month has no partition, so that no payment waits for one; `assent maintain` moves it. Rows never change, so
-- they are frozen when they are vacuumed first. PostgreSQL 18 counts only what isn't frozen yet, and would vacuum each minute.
create table audit_events_rest partition of audit_events default
  with (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_threshold = 20000);

-- BRIN costs an insert next to nothing, and is enough to find one user, or the newest events, among many millions of rows.
create index audit_events_user_id_idx on audit_events using brin (user_id uuid_bloom_ops);
create index audit_events_at_idx on audit_events using brin (at);
-- A user's history, newest first, without exchanges, which no person does.
create index audit_events_history_idx on audit_events (user_id, at) where kind <> 'exchanged';
-- What a user is warned of, however much else the user did: `WARNING_KINDS` in src/store/account/history.ts, and sign-ins and
-- authorizations only from browsers that were not known.
create index audit_events_alerts_idx on audit_events (user_id, kind, at)
 where kind in ('approved', 'approved_again', 'replayed', 'password_guessed', 'payment_password_guessed', 'user_password_set',
                'signed_in')
   and (kind not in ('approved', 'approved_again', 'signed_in')
        or detail ->> 'known_device' is distinct from 'true' and detail ->> 'session' is not null);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger append_only before update or delete on audit_events for each row execute function refuse_change();
create trigger append_only_truncate before truncate on audit_events for each statement execute function refuse_change();
create trigger append_only_truncate before truncate on audit_events_rest for each statement execute function refuse_change();

-- No authorization that could still act ends without an event, whatever deletes its row.
create function note_deleted_grants() returns trigger language plpgsql as $$
begin
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, operator)
  select 'revoked_by_operator', grant_id, user_id, client_id, instance_name, scope,
         nullif(current_setting('assent.operator', true), '')
    from deleted
   where is_live(code_expires_at, token_issued_at, revoked_at);
  return null;
end
$$;
create trigger note_deleted after delete on grants referencing old table as deleted
  for each statement execute function note_deleted_grants();

-- Servers of the payment API that may ask what a token allows.
create table resources (
  resource_id text collate "C" primary key,
  name        text not null,
  created_at  timestamptz not null default clock_timestamp(),
  status      text not null default 'active' check (status in ('active', 'blocked'))
);

create table resource_secrets (
  resource_id  text collate "C" not null references resources on delete cascade,
  secret_id    text collate "C" not null,
  secret_hash  bytea not null check (octet_length(secret_hash) = 32),
  created_at   timestamptz not null default clock_timestamp(),
  last_used_on date,
  retired_at   timestamptz,
  primary key (resource_id, secret_hash),
  unique (resource_id, secret_id)
);

-- Attempts at passwords, in a fixed number of slots: a keyed digest gives a counter its slot, so the table can't outgrow their
-- number, and tells nothing of what was typed.
create table throttles (
  slot       integer primary key,
  level      double precision not null default 0,                       -- attempts, less those forgotten since
  counted_at timestamptz not null default clock_timestamp(),
  free_at    timestamptz not null default clock_timestamp(),
  noted_at   timestamptz                                                -- when the audit trail was last told of it
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Programs that do operators' work over HTTP. Nothing is deleted: the audit trail has their names.
create table operators (
  name         text collate "C" primary key check (length(name) between 1 and 100),
  role         text not null check (role in ('reads', 'changes', 'destroys')),
  token_hash   bytea not null unique check (octet_length(token_hash) = 32),
  created_at   timestamptz not null default clock_timestamp(),
  expires_at   timestamptz not null,
  last_used_on date,
  retired_at   timestamptz
);

-- What `assent explain` knows: why requests were refused lately. A ring: the newest takes the place of the oldest, so that the
-- table can't outgrow its slots. Nothing of what was sent is here.
create table refusals (
  slot      integer primary key generated always as identity (maxvalue 100000 cycle),
  at        timestamptz not null,
  reference text not null,
  method    text not null,
  path      text not null,                                              -- the address of ours that was asked, never the query
  status    integer not null,
  error     text not null,
  rule      text not null,
  network   bigint,                                                     -- a keyed digest: those of one network are counted
  rule_id   text,                                                       -- null: a note about the proxy
  client_id text                                                        -- as far as it is registered
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
create index refusals_network_idx on refusals (network, at);

-- For databases where new functions have no privileges for others.
grant execute on function is_live, may_hold, answer_to, hash_form, readable_form to public;

-- Our functions take names from PostgreSQL and from our schema alone, whatever the session looks through first: a trigger
-- function may run as the tables' owner, and would write to a temporary table `audit_events` of the session's.
do $$
declare
  ours text;
begin
  foreach ours in array '{may_hold,answer_to,readable_form,refuse_change,note_deleted_grants}'::text[] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', ours, current_schema());
  end loop;
end
$$;
