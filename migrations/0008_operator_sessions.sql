-- Serves builds from schema version 1 on.

-- Operators signed in to the support pages. A session belongs to a token, not to a name: it ends with that token, also where
-- the operator gets another one. No foreign key, which would forbid to replace a token.
create table operator_sessions (
  session_hash bytea primary key check (octet_length(session_hash) = 32),
  token_hash   bytea not null check (octet_length(token_hash) = 32),
  created_at   timestamptz not null default clock_timestamp(),
  expires_at   timestamptz not null
);
create index on operator_sessions (expires_at);
