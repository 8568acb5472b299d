-- Serves builds from schema version 1 on.

-- Where an application wants to be told that an authorization has ended; the second for an address of the operator's own network.
alter table clients
  add column events_uri text,
  add column events_internal boolean not null default false;

-- Cursors of `assent notify` in the audit trail: `trail` for all endpoints that keep up, and one for each that is behind, `wallet` or
-- `client:` with a client_id, until it has caught up.
create table notify_cursors (
  endpoint      text collate "C" primary key,
  cursor        text not null,
  delivered     text[] not null default '{}',                  -- of the events after the cursor, by their ids
  failures      integer not null default 0,                    -- in a row
  failing_since timestamptz check (failures = 0 or failing_since is not null),
  next_try_at   timestamptz not null default clock_timestamp(),
  last_error    text
);
