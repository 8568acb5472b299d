import type { Database } from '../database/database.ts';
import { findAll } from '../database/query.ts';

/**
 * The rights of a server and its commands: reading and writing rows. Rows of `grants` are deleted only with their user or client.
 * `insert` and `update` are for every column except `clocked`, which only its default writes: the database's clock.
 */
export const TABLES: readonly { name: string; privileges: string; clocked?: string }[] = [
  { name: 'schema_migrations', privileges: 'select' },
  { name: 'clients', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'client_secrets', privileges: 'select, insert, update', clocked: 'created_at' },
  { name: 'client_logos', privileges: 'select, insert, update, delete' },
  { name: 'users', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'sessions', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'grants', privileges: 'select, insert, update' },
  // Only the owner of the tables imports.
  { name: 'imported_tokens', privileges: 'select' },
  { name: 'rejections', privileges: 'select, insert, update, delete' },
  { name: 'audit_events', privileges: 'select, insert', clocked: 'at' },
  { name: 'resources', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'resource_secrets', privileges: 'select, insert, update' },
  { name: 'throttles', privileges: 'select, insert, update, delete' },
  { name: 'operators', privileges: 'select, insert, update', clocked: 'created_at' },
  { name: 'refusals', privileges: 'select, insert, update, delete' },
];

// Each privilege on each column, or on the table if there are none on columns; partitions need none.
const find = findAll<{ tables: string; role: string | null }, { lacks: boolean; privilege: string }>('')`
with role (name) as (select coalesce(@role, current_user)::name), ours (oid, privileges, clocked) as (
  select name::regclass::oid, string_to_array(privileges, ', '), clocked
    from jsonb_to_recordset(@tables::jsonb) as needed (name text, privileges text, clocked text)
  union all
  select inhrelid, '{}', null from pg_inherits where inhparent = 'audit_events'::regclass
), cells as (
  select ours.oid, privilege, attname, has_column_privilege(role.name, ours.oid, attnum, privilege) as has,
         privilege = any (privileges) and (privilege = 'select' or attname is distinct from clocked) as needed
    from role, ours join pg_attribute on attrelid = ours.oid and attnum > 0 and not attisdropped,
         unnest('{select,insert,update,references}'::text[]) as privilege
  union all
  select ours.oid, privilege, null, has_table_privilege(role.name, ours.oid, privilege), privilege = any (privileges)
    from role, ours, unnest('{delete,truncate,trigger}'::text[]) as privilege
)
select needed as lacks,
       upper(privilege) || case when count(*) < most then ' (' || string_agg(attname, ', ') || ')' else '' end
         || ' on ' || oid::regclass as privilege
  from (select *, case when needed then count(*) filter (where needed) over place else count(*) over place end as most
          from cells window place as (partition by oid, privilege)) cells
 where has <> needed group by oid, cells.privilege, needed, most order by oid::regclass::text, cells.privilege`;

/** A role's (undefined for ours, or `public`) differences from a server's needs, such as `INSERT on grants`. */
export async function findDeviations(db: Database, role?: string) {
  const found = await find(db, { tables: JSON.stringify(TABLES), role: role ?? null });
  const those = (lacks: boolean) =>
    found.filter((one) => one.lacks === lacks).map(({ privilege }) => privilege);
  return { lacking: those(true), beyond: those(false) };
}

const findRoles = findAll<{ tables: readonly string[] }, { role: string }>('')`
with ours as (
  select c.oid, relacl, relowner from unnest(@tables::text[]) as name join pg_class c on c.oid = name::regclass
  union all
  select c.oid, relacl, relowner from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'audit_events'::regclass)
select distinct case grantee when 0 then 'public' else pg_get_userbyid(grantee)::text end as role
  from ours, lateral (
         select grantee from aclexplode(relacl)
         union all
         select grantee from pg_attribute, aclexplode(attacl) where attrelid = ours.oid and not attisdropped) as given
 where grantee <> relowner order by 1`;

/** The roles with rights on our tables, except their owner; `public` for every role. */
export const findGrantees = (db: Database) => findRoles(db, { tables: TABLES.map(({ name }) => name) });
