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
