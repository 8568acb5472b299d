-- What a user is warned of is found among all else that the user did, however much that is: the kinds are those of
-- `WARNING_KINDS` in src/store/history.ts, sign-ins only from browsers that were not known.
create index audit_events_warnings_idx on audit_events (user_id, kind, at)
 where kind in ('payment_confirmed', 'replayed', 'password_guessed', 'payment_password_guessed', 'user_password_set', 'signed_in')
   and (kind <> 'signed_in' or (detail ->> 'known_device' = 'false' and detail ->> 'session' is not null));
