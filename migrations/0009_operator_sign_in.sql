-- Serves builds from schema version 1 on.

-- Operators who signed in at an OpenID provider have no token. Stored is what its claim said, not the role: which role that gives
-- is a setting, and may change.
alter table operator_sessions
  alter column token_hash drop not null,
  add column operator text,                                                     -- the name
  add column source   text,                                                     -- issuer and claim
  add column given    text[],                                                   -- values of the claim
  add check (num_nulls(token_hash, operator) = 1 and num_nulls(operator, source, given) in (0, 3));
