-- Serves builds from schema version 13 on.
-- Confirmations by the payment password for pages side by side, and refusals that are counted for each network.

-- The requests that the payment password confirmed before the last one, each with its time: their pages may still be open.
alter table sessions add column confirmed_before jsonb not null default '{}';

-- Of the network that a refusal came from: a keyed digest, which tells nothing of it. Those of one network are counted, in all
-- processes together.
alter table refusals add column network bigint;
create index refusals_network_idx on refusals (network, at);
