-- What a person finds on the account page.

-- The day (UTC) on which a token of this authorization was last introspected. No index: noting it is a HOT update.
alter table grants add column last_used_on date;
