-- Serves builds from schema version 15 on.
-- A user who came from another service: the id there, perhaps no password, or a password hashed in its way.
alter table users alter column password_hash drop not null,
                  add column external_id text check (length(external_id) between 1 and 128);
create unique index users_external_id_idx on users (external_id) where external_id is not null;

-- How a password is hashed, with all parameters: null for our own way (`src/secrets/passwordThread.js`) and for no password.
create function hash_form(hash text) returns text language sql immutable parallel safe
  return case when hash like '$argon2id$v=19$m=19456,t=2,p=1$%' then null
              when hash like '$2%' then left(hash, 6)
              else regexp_replace(hash, '\$[^$]*\$[^$]*$', '') end;
grant execute on function hash_form to public;
create index users_foreign_hash_idx on users (hash_form(password_hash)) where hash_form(password_hash) is not null;

-- Another service's tokens name no row. The token is still the grant's only while `grants.token_hash` is the same.
create table imported_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  grant_id   uuid not null unique references grants on delete cascade
);
