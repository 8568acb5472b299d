-- What a person finds on the account page.

-- The day (UTC) on which a token of this authorization was last introspected. No index: noting it is a HOT update.
alter table grants add column last_used_on date;

-- From where a session was begun, as far as its user has to recognise it: no user agent, and no full address.
alter table sessions
  add column browser text,  -- names that we know
  add column system  text,
  add column network text;  -- such as 203.0.113.0/24

-- A user's history, newest first. An exchange, which no person does, is not in it, and pays nothing for it.
create index audit_events_history_idx on audit_events (user_id, at) where kind <> 'exchanged';
