-- Serves builds from schema version 11 on.
-- Our functions take tables, functions and types from PostgreSQL and from our schema alone, whatever the session looks
-- through first. A trigger function may run as the tables' owner: a role that deletes a user makes `note_deleted_grants` run
-- so from PostgreSQL 18 on, and a temporary table `audit_events` with a trigger of its own took the row and the owner's rights.
--
-- `is_live` is left as it is. Its body was parsed when it was made, so its names are bound to what they meant then; and a
-- function with settings is never inlined, which would be a call for each row that an approval or a page counts. `may_hold`
-- is plpgsql and was a call before; the setting costs it 3 to 5 microseconds in an approval.
do $migration$
declare
  here text := (select relnamespace::regnamespace from pg_class where oid = 'audit_events'::regclass);
  ours text;
begin
  execute format($function$
    create or replace function %1$s.note_deleted_grants() returns trigger language plpgsql as $$
begin
  insert into %1$s.audit_events (kind, grant_id, user_id, client_id, instance_name, scope, operator)
  select 'revoked_by_operator', grant_id, user_id, client_id, instance_name, scope,
         nullif(current_setting('assent.operator', true), '')
    from deleted
   where %1$s.is_live(code_expires_at, token_issued_at, revoked_at);
  return null;
end
$$ $function$, here);
  foreach ours in array '{note_deleted_grants(), refuse_change(), "may_hold(uuid, uuid, text, integer)"}'::text[] loop
    execute format('alter function %1$s.%2$s set search_path = pg_catalog, %1$s, pg_temp', here, ours);
  end loop;
end
$migration$;
