-- Users may grant less than an application asks, where the operator lets them.

-- Whether users of the application may lower its limits for periods.
alter table clients add column user_limits boolean not null default false;

-- Whether the scope is less than what was asked, so that the application has to be told.
alter table grants add column lowered boolean not null default false;
