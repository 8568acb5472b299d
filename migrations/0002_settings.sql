-- Serves builds from schema version 1 on.

-- What the servers of a database have in common: their currency, and a digest of the rights that they offer.
create table settings (
  name text collate "C" primary key,
  value text not null,
  set_at timestamptz not null default clock_timestamp()
);

-- An id that is deleted and registered again begins at another revision: no page or code of the former registration fits it.
alter table clients alter column revision set default (random() * 1000000000)::integer;
