-- Serves builds from schema version 22 on.
-- An application that is held to OAuth 2.1: it must use PKCE, may choose the port of a loopback redirect URI, and gets `iss`.
alter table clients add column oauth21 boolean not null default false;
