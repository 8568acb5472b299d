-- Serves builds from schema version 1 on.

-- Whose wrong passwords made a counter wait: for the operator who ends that. No foreign key: a row lasts some hours.
alter table throttles add column user_id uuid;
create index throttles_user_idx on throttles (user_id) where user_id is not null;
