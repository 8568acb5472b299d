-- The store of contract section 2 and 3: applications, users, and one row per authorization.
-- Secrets, codes, tokens and session ids are here only as SHA-256, passwords only as argon2id.

create table clients (
  client_id      text primary key,
  name           text not null,
  redirect_uri   text not null,
  verified       boolean not null,                 -- registered with authenticity verification (2.1)
  status         text not null default 'active' check (status in ('active', 'blocked')),
  allowed_rights text[],                           -- null: every right of the catalogue
  created_at     timestamptz not null default clock_timestamp()
);

-- A verified application that has no secret left can't exchange anything: it never becomes an unverified one.
create table client_secrets (
  client_id    text not null references clients on delete cascade,
  secret_id    text not null,
  secret_hash  bytea not null check (octet_length(secret_hash) = 32),
  created_at   timestamptz not null default clock_timestamp(),
  last_used_on date,
  retired_at   timestamptz,
  primary key (client_id, secret_hash),
  unique (client_id, secret_id)
);

create table users (
  user_id               uuid primary key default gen_random_uuid(),
  login                 text not null,                 -- as it was registered
  login_key             text not null unique,          -- what sign-in compares: the same whatever case was typed
  name                  text not null,
  password_hash         text not null,
  payment_password_hash text,
  status                text not null default 'active' check (status in ('active', 'blocked')),
  created_at            timestamptz not null default clock_timestamp()
);

create table sessions (
  session_hash      bytea primary key check (octet_length(session_hash) = 32),
  user_id           uuid not null references users on delete cascade,
  created_at        timestamptz not null default clock_timestamp(),
  seen_at           timestamptz not null default clock_timestamp(),
  confirmed_request bytea check (octet_length(confirmed_request) = 32),  -- what the payment password last confirmed
  confirmed_at      timestamptz
);
create index sessions_user_id_idx on sessions (user_id);

-- One row per (user, application, instance): grant_id is computed from these three, so there can't be a second.
-- A new authorization overwrites the row, which annuls the earlier code and token (1.5, section 3).
create table grants (
  grant_id        uuid primary key,
  user_id         uuid not null references users on delete cascade,
  client_id       text not null references clients on delete cascade,
  instance_name   text,
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
  check ((token_hash is null) = (token_issued_at is null))
) with (fillfactor = 80);  -- and no index on a column that changes: every transition can be a HOT update
create index grants_user_id_idx on grants (user_id);
create index grants_client_id_idx on grants (client_id);

-- What happened, one row per transition. No foreign keys: the trail outlives what it speaks of.
create table audit_events (
  event_id      bigint generated always as identity primary key,
  at            timestamptz not null default clock_timestamp(),
  kind          text not null,
  grant_id      uuid,
  user_id       uuid,
  client_id     text,
  instance_name text,
  detail        jsonb
);

-- Servers of the payment API that may ask what a token allows.
create table resources (
  resource_id text primary key,
  name        text not null,
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  created_at  timestamptz not null default clock_timestamp()
);
