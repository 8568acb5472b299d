-- Serves builds from schema version 15 on.
-- The application that a refused request names, as far as it is registered: `assent explain` fills it into its commands. Null in
-- the rows of earlier builds.
alter table refusals add column client_id text;
