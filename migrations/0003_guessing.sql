-- Tries at passwords, counted in a fixed number of slots: a counter has the slot that a keyed digest gives it, so the
-- table can't outgrow their number, and tells nothing of what was typed.

drop table throttles;

create table throttles (
  slot       integer primary key,
  level      double precision not null default 0,      -- tries, less those forgotten since
  counted_at timestamptz not null default clock_timestamp(),
  free_at    timestamptz not null default clock_timestamp(),
  noted_at   timestamptz                               -- when the audit trail was last told of it
) with (fillfactor = 70);  -- every try is an update, and no index changes by it
