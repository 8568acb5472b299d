import type { Database } from '../database/database.ts';
import { query } from '../database/query.ts';
import { statement } from '../database/statement.ts';
import { TABLES } from './tablePrivileges.ts';

/** Something that a role can do beyond the privileges on our tables. */
interface ExcessPrivilege {
  /** For example `it is a member of pg_read_all_data`. */
  readonly what: string;
  /** The SQL statement that takes it away; for the role's owner or a superuser. */
  readonly remedy: string;
}

// PostgreSQL notes in pg_shdepend what a role owns ("o") and what it was given rights on ("a"), in every database; what
// PUBLIC was given stands only with each thing. Rights on our own tables are the grant's business; CONNECT is everybody's
// as PostgreSQL is shipped, and opens none of our tables; so are the system's and extensions' things. TEMPORARY is as well,
// but a session's own tables come before ours wherever a statement names a table without its schema.
const EXCESS = statement<{ tables: readonly string[]; role: string | null }>(
  '',
  `
with role as (select *, quote_ident(rolname) as name from pg_roles where rolname = coalesce(@role, current_user)::name),
place as (select c.relnamespace as schema, d.oid as database, d.datname, d.datacl, d.datdba
            from pg_class c, pg_database d where c.oid = 'audit_events'::regclass and d.datname = current_database()),
ours as (select name::regclass::oid as oid from unnest(@tables::text[]) as name
         union all select inhrelid from pg_inherits where inhparent = 'audit_events'::regclass),
noted as (select s.*, s.dbid in (0, database) as here,
                 case when s.dbid in (0, database) then pg_describe_object(s.classid, s.objid, s.objsubid) end as thing
            from pg_shdepend s, role, place where s.refclassid = 'pg_authid'::regclass and s.refobjid = role.oid),
schemas as (select n.oid, quote_ident(nspname) as name from pg_namespace n, role, place
             where nspname !~ '^pg_' and nspname <> 'information_schema'
               and (n.oid = place.schema or has_schema_privilege(role.oid, n.oid, 'USAGE'))),
shipped as (select classid, objid from pg_depend where deptype = 'e'),
tables as (select c.oid, c.relacl, c.relkind, schemas.name || '.' || quote_ident(c.relname) as name
             from pg_class c join schemas on schemas.oid = c.relnamespace
            where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and c.oid not in (select oid from ours)
              and not exists (select from shipped where classid = 'pg_class'::regclass and objid = c.oid))
select format('it has the attribute %s', attribute) as what, format('alter role %s no%s', name, lower(attribute)) as remedy
  from role, lateral (values (rolsuper, 'SUPERUSER'), (rolcreaterole, 'CREATEROLE'), (rolcreatedb, 'CREATEDB'),
                             (rolreplication, 'REPLICATION'), (rolbypassrls, 'BYPASSRLS')) as has (it, attribute)
 where it
union all
select format('it is a member of %I', g.rolname), format('revoke %I from %s', g.rolname, name)
  from role join pg_auth_members m on m.member = role.oid join pg_roles g on g.oid = m.roleid
union all
select distinct case when here then 'it owns ' || thing else format('it owns something in the database %I; run this there', d.datname) end,
       format('reassign owned by %s to %I', name, current_user)
  from noted left join pg_database d on d.oid = dbid cross join role where deptype = 'o'
union all
select distinct 'it has rights on ' || thing,
       case when classid = 'pg_default_acl'::regclass then
              format('alter default privileges for role %s%s revoke all on %s from %s', defaclrole::regrole,
                     ' in schema ' || quote_ident(n.nspname),
                     case defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'routines'
                                        when 'T' then 'types' when 'n' then 'schemas' else 'large objects' end, role.name)
            else format('revoke all %son %s from %s', '(' || quote_ident(attname) || ') ',
                        case when c.relkind = 'S' then 'sequence ' || c.oid::regclass
                             when c.oid is not null then 'table ' || c.oid::regclass
                             when classid = 'pg_proc'::regclass then 'routine ' || object.identity
                             else case object.type when 'server' then 'foreign server'
                                                   when 'foreign-data wrapper' then 'foreign data wrapper'
                                                   when 'parameter ACL' then 'parameter' else object.type end
                                  || ' ' || object.identity end,
                        role.name)
       end
  from noted cross join role cross join place cross join lateral pg_identify_object(classid, objid, objsubid) as object
  left join pg_class c on classid = 'pg_class'::regclass and c.oid = objid
  left join pg_attribute on attrelid = c.oid and objsubid > 0 and attnum = objsubid
  left join pg_default_acl d on classid = 'pg_default_acl'::regclass and d.oid = objid
  left join pg_namespace n on n.oid = d.defaclnamespace
 where deptype = 'a' and here and classid not in ('pg_database'::regclass, 'pg_namespace'::regclass)
   and not coalesce(c.relnamespace = place.schema and c.relkind in ('r', 'p', 'v', 'm', 'f'), false)
union all
select format('every role has %s on %s', string_agg(distinct privilege, ', '), name),
       format('revoke %s on %s%s from public', string_agg(distinct privilege, ', '),
              case relkind when 'S' then 'sequence ' else '' end, name)
  from tables, lateral (
         select privilege_type as privilege, grantee from aclexplode(relacl)
         union all
         select format('%s (%I)', privilege_type, attname), grantee
           from pg_attribute, aclexplode(attacl) where attrelid = tables.oid and not attisdropped) as given
 where grantee = 0 group by name, relkind
union all
select format('every role may run %s as %I', routine, owner), format('revoke execute on routine %s from public', routine)
  from pg_proc p join schemas on schemas.oid = p.pronamespace, lateral (
         select format('%s.%I(%s)', schemas.name, proname, pg_get_function_identity_arguments(p.oid)) as routine,
                pg_get_userbyid(proowner) as owner) as said
 where prosecdef and not exists (select from shipped where classid = 'pg_proc'::regclass and objid = p.oid)
   and exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner)))
                where grantee = 0 and privilege_type = 'EXECUTE')
union all
select format('it may create in the schema %I', nspname), format('revoke create on schema %I from %s', nspname, grantee)
  from pg_namespace, role, lateral (
         select distinct case acl.grantee when 0 then 'public' else name end as grantee
           from aclexplode(coalesce(nspacl, acldefault('n', nspowner))) acl
          where acl.privilege_type = 'CREATE' and acl.grantee in (0, role.oid)) as given
union all
select format('it may create %sin the database %I', case privilege when 'TEMPORARY' then 'temporary tables ' end, datname),
       format('revoke %s on database %I from %s', lower(privilege), datname, grantee)
  from place, role, lateral (
         select distinct case acl.grantee when 0 then 'public' else name end as grantee, acl.privilege_type as privilege
           from aclexplode(coalesce(datacl, acldefault('d', datdba))) acl
          where acl.privilege_type in ('CREATE', 'TEMPORARY') and acl.grantee in (0, role.oid)) as given`,
);

/**
 * What a role can do beyond signing in: attributes, memberships, what it owns, what it may create, and rights on anything
 * that is not a table of ours, its own or PUBLIC's.
 *
 * @param role undefined for the one that we are connected as
 */
export function findExcessPrivileges(db: Database, role?: string): Promise<ExcessPrivilege[]> {
  return query(db, EXCESS({ tables: TABLES.map(({ name }) => name), role: role ?? null }));
}
