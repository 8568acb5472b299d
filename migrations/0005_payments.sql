-- Serves builds from schema version 1 on.

-- Payments that SPENDING counts: one row each, without a token, a name or a receiver.
create table payment_reservations (
  grant_id        uuid not null references grants on delete cascade,
  budget          bytea not null check (octet_length(budget) = 32),     -- of the right that pays, whatever its limit
  paid_at         timestamptz not null,                                 -- later than every earlier one of the budget
  key             text collate "C" not null,                            -- the application's name for the payment
  payment_hash    bytea not null check (octet_length(payment_hash) = 32), -- of amount, source and receiver: a repeat is equal
  amount          numeric not null check (amount > 0),
  total           numeric not null,                                     -- of the budget up to this payment, released ones included
  days            integer check (days between 1 and 9999),              -- the limit's period; null: a one-time payment
  token_issued_at timestamptz not null,                                 -- whose authorization allowed it
  released_at     timestamptz,                                          -- the money did not move
  primary key (grant_id, budget, paid_at),
  unique (grant_id, key)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
create index payment_reservations_released_idx on payment_reservations (grant_id, budget, paid_at) where released_at is not null;

-- What a budget has spent: of the last `of_days` days of 24 hours, or by this authorization for a one-time limit. The total is a
-- difference of two rows, so that a sum reads no more of a period with a million payments. Volatile: a caller that holds the grant's
-- lock sees every payment before it.
create function spent(of_grant uuid, of_budget bytea, of_days integer, of_token timestamptz,
                      out used numeric, out total numeric, out at timestamptz, out oldest numeric, out oldest_at timestamptz)
  language plpgsql volatile as $$
declare
  since timestamptz;
  base numeric;
  is_released boolean;
begin
  select p.total, p.paid_at + interval '1 microsecond' into total, at
    from payment_reservations p where p.grant_id = of_grant and p.budget = of_budget order by p.paid_at desc limit 1;
  -- A clock that was set back neither reorders payments nor ends a period early.
  at := greatest(clock_timestamp(), at, of_token);
  total := coalesce(total, 0);
  since := at - of_days * interval '24 hours';
  if of_days is null then
    select coalesce(sum(p.amount), 0) into used
      from payment_reservations p where p.grant_id = of_grant and p.budget = of_budget and p.paid_at >= of_token
       and p.token_issued_at = of_token and p.released_at is null;
    return;
  end if;
  select p.total - p.amount, p.amount, p.paid_at, p.released_at is not null into base, oldest, oldest_at, is_released
    from payment_reservations p where p.grant_id = of_grant and p.budget = of_budget and p.paid_at > since order by p.paid_at limit 1;
  used := total - coalesce(base, total) - coalesce((
    select sum(p.amount) from payment_reservations p
     where p.grant_id = of_grant and p.budget = of_budget and p.paid_at > since and p.released_at is not null), 0);
  if is_released then
    select p.amount, p.paid_at into oldest, oldest_at
      from payment_reservations p where p.grant_id = of_grant and p.budget = of_budget and p.paid_at > since and p.released_at is null
     order by p.paid_at limit 1;
  end if;
end
$$;

-- A payment with this key, and whether user and application are active: as of now, also for a statement that began before.
create function payment_state(of_grant uuid, named text, of_user uuid, of_client text,
                              out known bytea, out was_released boolean, out is_active boolean)
  language plpgsql volatile as $$
begin
  select p.payment_hash, p.released_at is not null into known, was_released
    from payment_reservations p where p.grant_id = of_grant and p.key = named;
  is_active := exists (select from users where user_id = of_user and status = 'active')
           and exists (select from clients where client_id = of_client and status = 'active');
end
$$;

grant execute on function spent, payment_state to public;

do $$
declare
  ours text;
begin
  foreach ours in array '{spent,payment_state}'::text[] loop
    execute format('alter function %I set search_path = pg_catalog, %I, pg_temp', ours, current_schema());
  end loop;
end
$$;
