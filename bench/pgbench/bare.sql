-- The minimal exchange: one update by primary key and its row of the audit trail, in one statement and one
-- commit. It checks neither the client nor the user's status.
\set turn random(0, :users / :clients - 1)
\set user :turn * :clients + :client_id + 1
\set application random(0, :applications - 1)
\set draw random(1, 1000000000000000000)
with issued as (
  update grants
     set token_hash = sha256(int8send(:draw::bigint)), token_issued_at = clock_timestamp()
   where grant_id = encode(substr(sha256(convert_to('["' || md5('user ' || :user::int)::uuid || '","'
                    || md5('client ' || :application::int) || '",null]', 'UTF8')), 1, 16), 'hex')::uuid
     and code_expires_at > clock_timestamp() and revoked_at is null
     and token_hash is distinct from sha256(int8send(:draw::bigint))
  returning grant_id, user_id, client_id, instance_name, scope, token_issued_at
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'exchanged', grant_id, user_id, client_id, instance_name, scope, '127.0.0.1', '78f68b3f7c' from issued
)
select token_issued_at from issued;
