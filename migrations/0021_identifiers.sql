-- Serves builds from schema version 20 on.
-- Identifiers are compared byte by byte. In the order of the database's locale an index is wrong as soon as another version of ICU
-- or of the C library sorts otherwise: rows are not found, or are there twice.

-- All at once, so that no request that waits for one of them holds another.
lock table resources, resource_secrets, client_logos, client_secrets, clients, imported_tokens, grants, users in access exclusive mode;

-- On large tables the operator has made these two before (docs/operate/upgrade.md); the next steps keep them.
create unique index if not exists users_login_key_bytes on users (login_key collate "C");
create index if not exists grants_client_id_bytes on grants (client_id collate "C");
alter table users drop constraint users_login_key_key;
drop index grants_client_id_idx;

alter table resources alter column resource_id type text collate "C";
alter table resource_secrets alter column resource_id type text collate "C", alter column secret_id type text collate "C";
alter table clients alter column client_id type text collate "C";
alter table client_logos alter column client_id type text collate "C";
alter table client_secrets alter column client_id type text collate "C", alter column secret_id type text collate "C";

-- An instance has a name, or there is none. An import could make authorizations with an empty name, which no new authorization
-- annuls: they end here, and the trail says so.
select set_config('assent.operator', 'migration 21', true);
delete from grants where instance_name = '';
alter table grants alter column client_id type text collate "C", add check (instance_name <> '');
alter index grants_client_id_bytes rename to grants_client_id_idx;
analyze grants (client_id);

-- The `sub` of OpenID Connect has up to 255 ASCII characters.
alter table users alter column login_key type text collate "C", alter column external_id type text collate "C",
                  alter column password_hash type text collate "C",
                  drop constraint users_external_id_check, add check (length(external_id) between 1 and 255);
alter table users add constraint users_login_key_key unique using index users_login_key_bytes;

-- The form of a hash that we read, with all parameters: null for all other text, of which nothing may be shown. `readHash` in
-- `src/secrets/foreignHash.js` is the same in JavaScript. The last letter of `whole` base64 has no bits to spare.
create function readable_form(hash text) returns text language plpgsql immutable parallel safe as $function$
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
end $function$;
grant execute on function readable_form to public;
do $$ begin
  execute format('alter function readable_form set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
