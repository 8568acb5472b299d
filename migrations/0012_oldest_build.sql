-- Serves builds from schema version 11 on.
-- The oldest build that can serve on the schema as a migration left it, by that build's schema version: what an older build
-- asks that is to start on a newer schema. Null for the migrations before this one: their builds don't ask.
alter table schema_migrations add column oldest_build integer check (oldest_build <= version);
