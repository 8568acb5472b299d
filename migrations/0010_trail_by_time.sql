-- Finds the newest events of a large month, for `assent audit next`. It costs an insert next to nothing.
create index audit_events_at_idx on audit_events using brin (at);
