import type { Database } from '../database/database.ts';
import { findAll } from '../database/query.ts';
import { TABLES } from './tablePrivileges.ts';

const NAMES = { tables: TABLES.map(({ name }) => name) };

/** A question about our tables with roles as its answer. */
function findRoles(text: string) {
  const find = findAll<typeof NAMES, { role: string }>('', text);
  return async (db: Database) => (await find(db, NAMES)).map(({ role }) => role);
}

/** The roles that own our tables and functions; there should be one. */
export const findOwners = findRoles(`
with ours as (select c.oid, relowner, relnamespace from unnest(@tables::text[]) as name join pg_class c on c.oid = name::regclass)
select distinct pg_get_userbyid(owner) as role from (
  select relowner as owner from ours
  union all
  select relowner from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent in (select oid from ours)
  union all
  select proowner from ours join pg_trigger t on tgrelid = ours.oid join pg_proc p on p.oid = tgfoid where not tgisinternal
  union all
  select proowner from pg_proc where oid in ('is_live'::regproc, 'may_hold'::regproc)) owners
 order by 1`);

/** The roles with rights on our tables, except their owner; `public` for every role. */
export const findGrantees = findRoles(`
with ours as (
  select c.oid, relacl, relowner from unnest(@tables::text[]) as name join pg_class c on c.oid = name::regclass
  union all
  select c.oid, relacl, relowner from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'audit_events'::regclass)
select distinct case grantee when 0 then 'public' else pg_get_userbyid(grantee)::text end as role
  from ours, lateral (
         select grantee from aclexplode(relacl)
         union all
         select grantee from pg_attribute, aclexplode(attacl) where attrelid = ours.oid and not attisdropped) as given
 where grantee <> relowner order by 1`);
