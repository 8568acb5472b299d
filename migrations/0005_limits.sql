-- Bounds on what one user can make the database hold, and on what a page about a user has to read.

-- In the order of the account page, so that a page of it is read and no more; it finds a user's grants too. Of what is
-- indexed here only a confirmation changes anything: an exchange and a revocation are HOT updates as before.
create index grants_account_idx on grants (user_id, confirmed_at, grant_id);
drop index grants_user_id_idx;

-- Contract section 8, as `src/oauth/lifetime.ts` has it: 3 years, or 6 months from before 7 February 2018, in UTC.
create function is_live(code_expires_at timestamptz, token_issued_at timestamptz, revoked_at timestamptz) returns boolean
  language sql volatile
  return revoked_at is null and clock_timestamp() < case
    when token_issued_at is null then code_expires_at
    when token_issued_at < '2018-02-07T00:00:00Z' then (token_issued_at at time zone 'UTC' + interval '6 months') at time zone 'UTC'
    else (token_issued_at at time zone 'UTC' + interval '36 months') at time zone 'UTC'
  end;

-- Volatile: each of its queries sees what was committed before it, so whoever asks with a lock on the user sees what the
-- approval before has written. A statement sees only what was there when it began.
create function may_hold(asked uuid, of_user uuid, of_client text, most integer) returns boolean
  language plpgsql volatile as $$
begin
  return exists (select from grants where grant_id = asked and is_live(code_expires_at, token_issued_at, revoked_at))
      or most > (select count(*) from (
           select from (select * from grants where user_id = of_user offset 0) g
            where client_id = of_client and is_live(code_expires_at, token_issued_at, revoked_at)
            limit most) live);
end
$$;

-- Said aloud, for databases where new functions are nobody's.
grant execute on function is_live, may_hold to public;

-- What a user has decided, less what is forgotten since.
alter table users add column decisions double precision not null default 0,
                  add column decided_at timestamptz not null default clock_timestamp();

-- Refusals that were noted, for as long as their forms are good: the same one is not noted again.
create table denials (
  code_hash  bytea primary key check (octet_length(code_hash) = 32),  -- of the code that Allow would have given
  expires_at timestamptz not null
);
create index denials_expires_at_idx on denials (expires_at);
