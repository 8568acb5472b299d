-- Serves builds from schema version 11 on.
-- What years of use ask for: expired rows are found by themselves, and tables that change all the time stay small.

-- A session is at most 12 hours old, so its age is enough to find those that have expired, and never changes: noting that
-- one was seen stays a HOT update.
create index sessions_created_at_idx on sessions (created_at);

-- Room on each page for the next version of a row, so that an update changes no index. It counts for pages from now on.
-- Vacuumed when one row in twenty or fifty is dead, not one in five: PostgreSQL's share is for tables that change little.
alter table users     set (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
alter table sessions  set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
alter table grants    set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table throttles set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
alter table denials   set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
alter table refusals  set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Rows of the trail never change, so they are frozen when they are vacuumed first, and never read again for it. PostgreSQL
-- 18 counts only what isn't frozen yet, and would vacuum each minute by its own threshold.
do $$
declare month regclass;
begin
  for month in select inhrelid from pg_inherits where inhparent = 'audit_events'::regclass loop
    execute format('alter table %s set (autovacuum_freeze_min_age = 0, autovacuum_vacuum_insert_threshold = 20000)', month);
  end loop;
end
$$;
