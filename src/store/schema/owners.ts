import type { Database } from '../database/database.ts';
import { findAll } from '../database/query.ts';
import { TABLES } from './tablePrivileges.ts';

const NAMES = { tables: TABLES.map(({ name }) => name) };

const owners = findAll<typeof NAMES, { owner: string }>(
  '',
  `
with ours as (select c.oid, relowner, relnamespace from unnest(@tables::text[]) as name join pg_class c on c.oid = name::regclass)
select distinct pg_get_userbyid(owner) as owner from (
  select relowner as owner from ours
  union all
  select relowner from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent in (select oid from ours)
  union all
  select proowner from ours join pg_trigger t on tgrelid = ours.oid join pg_proc p on p.oid = tgfoid where not tgisinternal
  union all
  select proowner from pg_proc where oid in ('is_live'::regproc, 'may_hold'::regproc)) owners
 order by 1`,
);

/** The roles that own our tables and functions; there should be one. */
export async function findOwners(db: Database): Promise<string[]> {
  return (await owners(db, NAMES)).map(({ owner }) => owner);
}

const grantees = findAll<typeof NAMES, { role: string }>(
  '',
  `
with ours as (
  select c.oid, relacl, relowner from unnest(@tables::text[]) as name join pg_class c on c.oid = name::regclass
  union all
  select c.oid, relacl, relowner from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'audit_events'::regclass)
select distinct case grantee when 0 then 'public' else pg_get_userbyid(grantee)::text end as role
  from ours, lateral (
         select grantee from aclexplode(relacl)
         union all
         select grantee from pg_attribute, aclexplode(attacl) where attrelid = ours.oid and not attisdropped) as given
 where grantee <> relowner order by 1`,
);

/** The roles with rights on our tables, except their owner; `public` for every role. */
export async function findGrantees(db: Database): Promise<string[]> {
  return (await grantees(db, NAMES)).map(({ role }) => role);
}
