-- Serves builds from schema version 21 on.
-- A statement sees the rows of its beginning; a function that it calls after its locks sees those of the call. So the first of
-- Allow and Reject of one page that commits decides. `answered` is the page, `code` the hash of the code that Allow gives.
create function answer_to(answered bytea, asked uuid, code bytea) returns text language plpgsql as $function$
begin
  if exists (select from rejections where code_hash = answered) then return 'rejected'; end if;
  if exists (select from grants where grant_id = asked and code_hash = code) then return 'allowed'; end if;
  return null;
end $function$;
grant execute on function answer_to to public;
do $$ begin
  execute format('alter function answer_to set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;

-- An authorization that the payment password or the provider confirmed is a warning for the user's other browsers.
drop index audit_events_warnings_idx;
create index if not exists audit_events_alerts_idx on audit_events (user_id, kind, at)
 where kind in ('approved', 'approved_again', 'payment_confirmed', 'replayed', 'password_guessed', 'payment_password_guessed',
                'user_password_set', 'signed_in')
   and (kind not in ('approved', 'approved_again', 'signed_in')
        or detail ->> 'known_device' is distinct from 'true' and detail ->> 'session' is not null);
