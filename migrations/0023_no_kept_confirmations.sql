-- Serves builds from schema version 22 on.
-- A confirmation approves in its own request, so no session keeps one.
alter table sessions drop column confirmed_request, drop column confirmed_at, drop column confirmed_before;
