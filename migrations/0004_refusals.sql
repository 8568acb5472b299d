-- What `assent explain` knows: why requests were refused lately. A ring: the newest takes the place of the oldest, so that
-- the table can't grow beyond its slots. Nothing of what was sent is here.

create table refusals (
  slot      integer primary key generated always as identity (maxvalue 100000 cycle),
  at        timestamptz not null,
  reference text not null,
  method    text not null,
  path      text not null,               -- the address of ours that was asked, never the query
  status    integer not null,
  error     text not null,
  rule      text not null
);
