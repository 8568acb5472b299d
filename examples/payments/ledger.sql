create table payments (
  grant_id      uuid not null,         -- from introspection
  number        bigint not null,       -- 1, 2, 3 … within the grant
  authorized_at bigint not null,       -- `iat` from introspection: which authorization allowed it
  key           text not null,         -- the application's name for this payment
  request       text not null,         -- the payment itself: its receiver, and anything to keep about it
  budget        text not null,         -- the right whose budget it used
  amount        numeric not null check (amount > 0 and amount = round(amount, 2)),
  paid_at       timestamptz not null default statement_timestamp(),
  released_at   timestamptz,           -- set when the money surely did not move
  primary key (grant_id, number),
  unique (grant_id, key)
);
create index on payments (grant_id, budget, paid_at);
