-- Serves builds from schema version 15 on.
-- The id of the rule that a refusal broke, by which `assent explain` finds its remedy. Null in the rows of earlier builds.
alter table refusals add column rule_id text;
