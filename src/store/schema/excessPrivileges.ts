import { findAll } from '../database/query.ts';

// PostgreSQL lists a role's possessions in pg_shdepend ("o"), in every database. PUBLIC has CONNECT and TEMPORARY by default.
// CONNECT opens none of our tables; a session's temporary tables precede ours in a statement without a schema.
/**
 * A role's attributes, memberships and possessions, and where it may create something; null for our own role. `what`: such as
 * `it is a member of pg_read_all_data`; `remedy`: the SQL statement that revokes it, for the role's owner or a superuser.
 */
export const findExcessPrivileges = findAll<{ role: string | null }, Record<'what' | 'remedy', string>>('')`
with role as (select *, quote_ident(rolname) as name from pg_roles where rolname = coalesce(@role, current_user)::name),
places (place, name, acl) as (
  select 'schema', nspname, coalesce(nspacl, acldefault('n', nspowner)) from pg_namespace
  union all
  select 'database', datname, coalesce(datacl, acldefault('d', datdba)) from pg_database where datname = current_database())
select format('it has the attribute %s', attribute) as what, format('alter role %s no%s', name, lower(attribute)) as remedy
  from role, lateral (values (rolsuper, 'SUPERUSER'), (rolcreaterole, 'CREATEROLE'), (rolcreatedb, 'CREATEDB'),
                             (rolreplication, 'REPLICATION'), (rolbypassrls, 'BYPASSRLS')) as has (it, attribute)
 where it
union all
select format('it is a member of %I', g.rolname), format('revoke %I from %s', g.rolname, name)
  from role join pg_auth_members m on m.member = role.oid join pg_roles g on g.oid = m.roleid
union all
select distinct case when datname = current_database() or dbid = 0 then 'it owns ' || pg_describe_object(classid, objid, objsubid)
                     else format('it owns something in the database %I; run this there', datname) end,
       format('reassign owned by %s to %I', name, current_user)
  from role join pg_shdepend on refclassid = 'pg_authid'::regclass and refobjid = role.oid and deptype = 'o'
       left join pg_database d on d.oid = dbid
union all
select distinct format('it may create %sin the %s %I', case privilege_type when 'TEMPORARY' then 'temporary tables ' end, place, places.name),
       format('revoke %s on %s %I from %s', lower(privilege_type), place, places.name, case grantee when 0 then 'public' else role.name end)
  from role, places, aclexplode(acl)
 where privilege_type in ('CREATE', 'TEMPORARY') and grantee in (0, role.oid)`;
