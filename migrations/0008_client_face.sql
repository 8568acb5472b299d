-- What users see of an application beside its name.

alter table clients
  add column site     text check (site like 'https://%'),
  add column logo     text check (logo ~ '^[0-9a-f]{32}\.(svg|png)$'),  -- the file in client_logos; null: none
  add column reviewed boolean not null default false;                    -- an operator has looked at the application

-- Apart from clients, so that what each request reads of an application stays short.
create table client_logos (
  client_id text primary key references clients on delete cascade,
  file      text not null,
  body      bytea not null check (octet_length(body) between 1 and 65536)
);
