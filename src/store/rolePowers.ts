import { type Database, select } from './database.ts';

/** Something that a role can do beside what it was given on our tables. */
export interface Power {
  /** For example `it is a member of pg_read_all_data`. */
  readonly what: string;
  /** The SQL that takes it away; for the role's owner or a superuser. */
  readonly remedy: string;
}

// PostgreSQL notes in pg_shdepend what a role owns ("o") and what it was given rights on ("a"), in every database. Rights
// on our own tables are the grant's business; TEMPORARY and CONNECT are everybody's as PostgreSQL is shipped, and open
// none of our tables.
const POWERS = {
  name: '',
  text: `
with role as (select *, quote_ident(rolname) as name from pg_roles where rolname = coalesce($1, current_user)::name),
place as (select c.relnamespace as schema, d.oid as database, d.datname, d.datacl, d.datdba
            from pg_class c, pg_database d where c.oid = 'audit_events'::regclass and d.datname = current_database()),
noted as (select s.*, s.dbid in (0, database) as here,
                 case when s.dbid in (0, database) then pg_describe_object(s.classid, s.objid, s.objsubid) end as thing
            from pg_shdepend s, role, place where s.refclassid = 'pg_authid'::regclass and s.refobjid = role.oid)
select format('it has the attribute %s', attribute) as what, format('alter role %s no%s', name, lower(attribute)) as remedy
  from role, lateral (values (rolsuper, 'SUPERUSER'), (rolcreaterole, 'CREATEROLE'), (rolcreatedb, 'CREATEDB'),
                             (rolreplication, 'REPLICATION'), (rolbypassrls, 'BYPASSRLS')) as has (it, attribute)
 where it
union all
select format('it is a member of %I', g.rolname), format('revoke %I from %s', g.rolname, name)
  from role join pg_auth_members m on m.member = role.oid join pg_roles g on g.oid = m.roleid
union all
select distinct case when here then 'it owns ' || thing else format('it owns something in the database %I', d.datname) end,
       format('reassign owned by %s to %I%s', name, current_user,
              case when here then '' else format(', in the database %I', d.datname) end)
  from noted left join pg_database d on d.oid = dbid cross join role where deptype = 'o'
union all
select 'it has rights on ' || thing,
       case when classid = 'pg_default_acl'::regclass then format('alter default privileges … revoke all … from %s', name)
            else format('revoke all on %s from %s', thing, name) end
  from noted, role, place
 where deptype = 'a' and here and classid not in ('pg_database'::regclass, 'pg_namespace'::regclass)
   and not (classid = 'pg_class'::regclass and exists (
         select from pg_class c where c.oid = objid and c.relnamespace = place.schema and c.relkind in ('r', 'p', 'v', 'm', 'f')))
union all
select format('it may create in the schema %I', nspname), format('revoke create on schema %I from %s', nspname, grantee)
  from pg_namespace, role, lateral (
         select distinct case acl.grantee when 0 then 'public' else name end as grantee
           from aclexplode(coalesce(nspacl, acldefault('n', nspowner))) acl
          where acl.privilege_type = 'CREATE' and acl.grantee in (0, role.oid)) as given
union all
select format('it may create in the database %I', datname), format('revoke create on database %I from %s', datname, grantee)
  from place, role, lateral (
         select distinct case acl.grantee when 0 then 'public' else name end as grantee
           from aclexplode(coalesce(datacl, acldefault('d', datdba))) acl
          where acl.privilege_type = 'CREATE' and acl.grantee in (0, role.oid)) as given`,
};

/**
 * What a role can do beyond signing in: attributes, memberships, what it owns, what it may create, and rights on anything
 * that is not a table beside ours.
 *
 * @param role undefined for the one that we are connected as
 */
export function findPowers(db: Database, role?: string): Promise<Power[]> {
  return select<Power>(db, POWERS, [role ?? null]);
}
