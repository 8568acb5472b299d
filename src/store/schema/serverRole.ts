import pg from 'pg';
import { type Actor, recordAct } from '../common/auditEvents.ts';
import type { Database } from '../database/database.ts';
import { findAll, findExactlyOne, findOne, send } from '../database/query.ts';
import { withMigrationLock } from './schemaState.ts';

/**
 * The rights of a server and its commands: reading and writing rows. Rows of `grants` are deleted only with their user or client.
 * `insert` and `update` are for every column except `clocked`, which only its default writes: the database's clock. `update` may be
 * for one column, `changed`.
 */
export const TABLES: readonly { name: string; privileges: string; clocked?: string; changed?: string }[] = [
  { name: 'schema_migrations', privileges: 'select' },
  { name: 'settings', privileges: 'select, insert, update' },
  { name: 'clients', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'client_secrets', privileges: 'select, insert, update', clocked: 'created_at' },
  { name: 'client_logos', privileges: 'select, insert, update, delete' },
  { name: 'users', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'sessions', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'grants', privileges: 'select, insert, update' },
  // Only the owner of the tables imports.
  { name: 'imported_tokens', privileges: 'select' },
  { name: 'payment_reservations', privileges: 'select, insert, update', changed: 'released_at' },
  { name: 'notify_cursors', privileges: 'select, insert, update, delete' },
  { name: 'rejections', privileges: 'select, insert, update, delete' },
  { name: 'audit_events', privileges: 'select, insert', clocked: 'at' },
  { name: 'resources', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'resource_secrets', privileges: 'select, insert, update' },
  { name: 'throttles', privileges: 'select, insert, update, delete' },
  { name: 'operators', privileges: 'select, insert, update', clocked: 'created_at' },
  { name: 'operator_sessions', privileges: 'select, insert, update, delete', clocked: 'created_at' },
  { name: 'refusals', privileges: 'select, insert, update, delete' },
];

// Each privilege on each column, or on the table if there are none on columns; partitions need none.
const find = findAll<{ tables: string; role: string | null }, { lacks: boolean; privilege: string }>('')`
with role (name) as (select coalesce(@role, current_user)::name), ours (oid, privileges, clocked, changed) as (
  select name::regclass::oid, string_to_array(privileges, ', '), clocked, changed
    from jsonb_to_recordset(@tables::jsonb) as needed (name text, privileges text, clocked text, changed text)
  union all
  select inhrelid, '{}', null, null from pg_inherits where inhparent = 'audit_events'::regclass
), cells as (
  select ours.oid, privilege, attname, has_column_privilege(role.name, ours.oid, attnum, privilege) as has,
         privilege = any (privileges) and (privilege = 'select' or attname is distinct from clocked)
           and (privilege <> 'update' or coalesce(attname = changed, true)) as needed
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
  const deviations = await find(db, { tables: JSON.stringify(TABLES), role: role ?? null });
  const those = (lacks: boolean) =>
    deviations.filter((one) => one.lacks === lacks).map(({ privilege }) => privilege);
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

/** The location of our tables, quoted if necessary, and whether we own the database; no row without the role. */
const findPlace = findOne<{ role: string }, { schema: string; database: string; isOurs: boolean }>('')`
  select c.relnamespace::regnamespace::text as schema, quote_ident(datname) as database,
         pg_has_role(datdba, 'usage') as "isOurs"
    from pg_roles r, pg_class c, pg_database d
   where r.rolname = @role and c.oid = 'audit_events'::regclass and datname = current_database()`;

const findColumns = findExactlyOne<{ table: string; clocked: string | null }, { columns: string }>('')`
  select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
   where attrelid = @table::regclass and attnum > 0 and not attisdropped and attname is distinct from @clocked`;

/** Gives a role exactly the server's rights on our tables. @throws {Error} if it is missing, or has further powers: nothing changes */
export function grantServerRole(pool: pg.Pool, role: string, operator: Actor): Promise<void> {
  return withMigrationLock(pool, (connection) => giveRights(connection, role, operator));
}

/** Makes a missing role that signs in without a password, with the server's rights: for trial mode. */
export function ensureServerRole(pool: pg.Pool, role: string, operator: Actor): Promise<void> {
  return withMigrationLock(pool, async (connection) => {
    if ((await findPlace(connection, { role })) === null)
      await send(connection, `create role ${pg.escapeIdentifier(role)} login`);
    const { lacking, beyond } = await findDeviations(connection, role);
    if (lacking.length + beyond.length > 0) await giveRights(connection, role, operator);
  });
}

async function giveRights(connection: pg.PoolClient, role: string, operator: Actor): Promise<void> {
  const name = pg.escapeIdentifier(role);
  const place = await findPlace(connection, { role });
  if (place === null) {
    throw new Error(
      `there is no role ${role}: create it, and set its password with \\password in psql\n  create role ${name} login;`,
    );
  }
  // PostgreSQL gives it to every role.
  if (place.isOurs)
    await send(connection, `revoke temporary on database ${place.database} from public, ${name}`);
  await refuseExcess(connection, role);
  await send(connection, `revoke all on all tables in schema ${place.schema} from ${name}`);
  await send(connection, `grant usage on schema ${place.schema} to ${name}`);
  for (const { name: table, privileges, clocked = null, changed } of TABLES) {
    const { columns } = await findColumns(connection, { table, clocked });
    const granted = privileges
      .replace('insert', `$& (${columns})`)
      .replace('update', `$& (${changed ?? columns})`);
    await send(connection, `grant ${granted} on ${table} to ${name}`);
  }
  await recordAct(connection, { kind: 'server_role_granted', operator, detail: { role } });
}

/** Refuses a role with excess rights. The message is a script: a comment above each statement names the right it revokes. */
async function refuseExcess(db: Database, role: string): Promise<void> {
  const { beyond } = await findDeviations(db, 'public');
  const ofEveryRole = beyond.map((privilege) => ({
    what: `every role has ${privilege}`,
    remedy: `revoke ${privilege} from public`,
  }));
  const excess = [...(await findExcessPrivileges(db, { role })), ...ofEveryRole];
  if (excess.length === 0) return;
  const lines = excess.map(({ what, remedy }) => `\n  -- ${what.replaceAll(/\s+/g, ' ')}\n  ${remedy};`);
  throw new Error(`${role} has more privileges than a server needs; this SQL revokes them:${lines.join('')}`);
}
