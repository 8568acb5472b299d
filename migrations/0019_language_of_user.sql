-- Serves builds from schema version 15 on.
-- The language that a user chose on a page of ours, by its tag: for browsers in which none was chosen. Null until then.
alter table users add column language text;
