-- Serves builds from schema version 22 on.
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
