-- The guards of Assent's statement for one code: the row with its code, client, time and redirect_uri, the
-- client with its secret, the user. One update and its row of the audit trail, in one statement and one commit.
--
-- Each client of pgbench has its own users, so that none waits for another's row. A code may be used again here, or
-- the rows would run out: where Assent requires no token, this requires another one. The guard must still hold: the
-- rows of the audit trail are counted afterwards. Ids and hashes are computed from numbers, in about 5 µs together.
\set turn random(0, :users / :clients - 1)
\set user :turn * :clients + :client_id + 1
\set application random(0, :applications - 1)
\set draw random(1, 1000000000000000000)
with issued as (
  update grants g
     set token_hash = sha256(int8send(:draw::bigint)), token_issued_at = clock_timestamp()
    from clients c, client_secrets s, users u
   where g.grant_id = encode(substr(sha256(convert_to('["' || md5('user ' || :user::int)::uuid || '","'
                      || md5('client ' || :application::int) || '",null]', 'UTF8')), 1, 16), 'hex')::uuid
     and g.code_hash = sha256(int4send(:user::int))
     and g.client_id = md5('client ' || :application::int)
     and g.code_expires_at > clock_timestamp()
     and g.redirect_uri = 'https://shop.example/callback'
     and g.code_challenge is not distinct from null
     and g.token_hash is distinct from sha256(int8send(:draw::bigint))
     and g.revoked_at is null
     and c.client_id = md5('client ' || :application::int) and c.status = 'active'
     and s.client_id = c.client_id and s.retired_at is null
     and s.secret_hash = sha256(convert_to(md5('secret of client ' || :application::int), 'UTF8'))
     and u.user_id = g.user_id and u.status = 'active'
  returning g.grant_id, g.user_id, g.client_id, g.instance_name, g.scope, g.token_issued_at
), logged as (
  insert into audit_events (kind, grant_id, user_id, client_id, instance_name, scope, address, reference)
  select 'exchanged', grant_id, user_id, client_id, instance_name, scope, '127.0.0.1', '78f68b3f7c' from issued
)
select token_issued_at from issued;
