-- Every grant with a code known to `same.sql`, before each round.
update grants g
   set code_hash = sha256(int4send(substr(u.login, 6)::int)), redirect_uri = 'https://shop.example/callback',
       code_expires_at = clock_timestamp() + interval '10 minutes', code_challenge = null, revoked_at = null
  from users u where u.user_id = g.user_id;
