-- What operators do: applications that change, resource servers with the same verbs, and a trail that says who did it.

-- What an application may ask at most of a right that spends, and the number of its name, redirect URI, rights and
-- ceiling together: a page or a code from before a change no longer fits.
alter table clients
  add column revision  integer not null default 1,
  add column most_days integer check (most_days between 1 and 9999),
  add column most_sum  numeric check (most_sum > 0),
  add check ((most_days is null) = (most_sum is null));
alter table grants add column client_revision integer not null default 1;

-- Resource servers have secrets like applications: several may be live.
alter table resources add column status text not null default 'active' check (status in ('active', 'blocked'));
create table resource_secrets (
  resource_id  text not null references resources on delete cascade,
  secret_id    text not null,
  secret_hash  bytea not null check (octet_length(secret_hash) = 32),
  created_at   timestamptz not null default clock_timestamp(),
  last_used_on date,
  retired_at   timestamptz,
  primary key (resource_id, secret_hash),
  unique (resource_id, secret_id)
);
insert into resource_secrets (resource_id, secret_id, secret_hash, created_at)
select resource_id, substr(md5(resource_id), 1, 8), secret_hash, created_at from resources;
alter table resources drop column secret_hash;

alter table audit_events
  add column operator    text,                  -- who gave the command; null: nobody did
  add column resource_id text,
  add column detail      jsonb;                 -- what changed: ids and settings, no secret, no name of a person

-- No authorization that could still act goes without a row, whatever deletes it.
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
