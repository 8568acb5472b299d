import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';
import { statement } from '../database/statement.ts';
import { TABLES } from './tablePrivileges.ts';

const OWNERS = statement<{ tables: readonly string[] }>(
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

/** The roles that own our tables and functions; who owns a function decides what it does. One is as it should be. */
export async function findOwners(db: Database): Promise<string[]> {
  const found = await query<{ owner: string }>(db, OWNERS({ tables: TABLES.map(({ name }) => name) }));
  return found.map(({ owner }) => owner);
}

const GRANTEES = statement<{ tables: readonly string[] }>(
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

/** The roles that were given something on our tables, beside their owner; `public` for every role. */
export async function findGrantees(db: Database): Promise<string[]> {
  const found = await query<{ role: string }>(db, GRANTEES({ tables: TABLES.map(({ name }) => name) }));
  return found.map(({ role }) => role);
}
