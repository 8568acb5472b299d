-- The trail as it is read and kept: who allowed what from where, append-only, a partition for each month.

alter table audit_events rename to audit_events_before;

create table audit_events (
  at            timestamptz not null default clock_timestamp(),
  kind          text not null,                  -- the outcome: approved, refused, exchanged, revoked_by_user, …
  grant_id      uuid,
  user_id       uuid,
  client_id     text,
  instance_name text,
  scope         text,
  limits        jsonb,                          -- what a decision was about, as the rules read it at that time
  address       text,                           -- null: not asked for by HTTP
  reference     text                            -- the one of the log line
) partition by range (at);

-- It costs an insert next to nothing, and is enough to find one user among many millions of rows.
create index audit_events_user_id_idx on audit_events using brin (user_id uuid_bloom_ops);

-- Takes what no month's partition is there for, so that nobody's money waits for a partition. The next
-- `assent migrate` moves it to where it belongs.
create table audit_events_rest partition of audit_events default;

insert into audit_events (at, kind, grant_id, user_id, client_id, instance_name, scope)
select at, kind, grant_id, user_id, client_id, instance_name, detail ->> 'scope' from audit_events_before order by event_id;
drop table audit_events_before;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger append_only before update or delete on audit_events for each row execute function refuse_change();
create trigger append_only_truncate before truncate on audit_events for each statement execute function refuse_change();
create trigger append_only_truncate before truncate on audit_events_rest for each statement execute function refuse_change();

-- Tries to guess a password, counted for a login at a network, a login, and a network. Each key is a SHA-256: what
-- was typed as a login may have been a password.
create table throttles (
  key           bytea primary key check (octet_length(key) = 32),
  level         double precision not null default 0,     -- tries, less those forgotten since
  counted_at    timestamptz not null default clock_timestamp(),
  free_at       timestamptz not null default clock_timestamp(),
  trusted_until timestamptz not null default clock_timestamp(),
  forget_at     timestamptz not null default clock_timestamp()
);
create index throttles_forget_at_idx on throttles (forget_at);
