import pg from 'pg';
import { recordAct } from './auditEvents.ts';
import { type Database, transaction } from './database.ts';
import { type ExcessPrivilege, findPrivilegesBeyond } from './excessPrivileges.ts';
import { query } from './query.ts';
import { statement } from './statement.ts';

/**
 * What a server and its commands need: to read and write rows. Nothing here lets them change a table, drop one, or
 * rewrite the audit trail; rows of `grants` go only with their user or client. `insert` and `update` are for every
 * column but that of {@link CLOCKED}.
 */
const PRIVILEGES: Readonly<Record<string, string>> = {
  schema_migrations: 'select',
  clients: 'select, insert, update, delete',
  client_secrets: 'select, insert, update',
  users: 'select, insert, update, delete',
  sessions: 'select, insert, update, delete',
  grants: 'select, insert, update',
  denials: 'select, insert, update, delete',
  audit_events: 'select, insert',
  resources: 'select, insert, update, delete',
  resource_secrets: 'select, insert, update',
  throttles: 'select, insert, update, delete',
  refusals: 'select, insert, update, delete',
};

/** The column of a table that only its default writes: when something happened is for the database's clock to say. */
const CLOCKED: Readonly<Record<string, string>> = {
  clients: 'created_at',
  client_secrets: 'created_at',
  users: 'created_at',
  sessions: 'created_at',
  audit_events: 'at',
  resources: 'created_at',
};

// Each privilege on each column, or on the table where there are none on columns; of partitions none is needed.
const DEVIATIONS = statement<{
  tables: readonly string[];
  privileges: readonly string[];
  clocked: readonly (string | null)[];
  role: string | null;
}>(
  '',
  `
with role (name) as (select coalesce(@role, current_user)::name), ours (oid, privileges, clocked) as (
  select name::regclass::oid, string_to_array(privileges, ', '), clocked
    from unnest(@tables::text[], @privileges::text[], @clocked::text[]) as needed (name, privileges, clocked)
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
 where has <> needed group by oid, cells.privilege, needed, most order by oid::regclass::text, cells.privilege`,
);

/** How the privileges of a role differ from what a server needs, each such as `INSERT on grants`. */
export interface Deviations {
  readonly lacking: readonly string[];
  readonly beyond: readonly string[];
}

/** @param role undefined for the one that we are connected as; `public` for what every role may */
export async function findDeviations(db: Database, role?: string): Promise<Deviations> {
  const tables = Object.keys(PRIVILEGES);
  const clocked = tables.map((table) => CLOCKED[table] ?? null);
  const values = { tables, privileges: Object.values(PRIVILEGES), clocked, role: role ?? null };
  const found = await query<{ lacks: boolean; privilege: string }>(db, DEVIATIONS(values));
  const those = (lacks: boolean) =>
    found.filter((one) => one.lacks === lacks).map(({ privilege }) => privilege);
  return { lacking: those(true), beyond: those(false) };
}

/** What a role can do beside what it was given on our tables. @param role undefined for the one that we are connected as */
export function findExcessPrivileges(db: Database, role?: string): Promise<ExcessPrivilege[]> {
  return findPrivilegesBeyond(db, Object.keys(PRIVILEGES), role);
}

/** A role that can't be the server's; the message says what to do. */
class ServerRoleError extends Error {
  override readonly name = 'ServerRoleError';
}

/**
 * Gives a role exactly what the server needs, and takes whatever else it had on our tables. Only for their owner.
 *
 * @throws {ServerRoleError} when there is no such role, or it can do more by another way; then nothing has changed
 */
export async function grantServerRole(pool: pg.Pool, role: string, operator: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  await transaction(pool, async (connection) => {
    const { rows } = await connection.query<{ schema: string }>(
      `select c.relnamespace::regnamespace::text as schema  -- quoted where it has to be
         from pg_roles r, pg_class c where r.rolname = $1 and c.oid = 'audit_events'::regclass`,
      [role],
    );
    const [found] = rows;
    if (found === undefined) {
      throw new ServerRoleError(
        `there is no role ${role}: create it, and give it a password with \\password in psql\n  create role ${name} login;`,
      );
    }
    refusePrivileges(role, await findExcess(connection, role));
    await connection.query(`revoke all on all tables in schema ${found.schema} from ${name}`);
    await connection.query(`grant usage on schema ${found.schema} to ${name}`);
    for (const [table, privileges] of Object.entries(PRIVILEGES)) {
      const columns = await columnsBut(connection, table, CLOCKED[table]);
      for (const privilege of privileges.split(', ')) {
        const which = /insert|update/.test(privilege) ? `(${columns})` : '';
        await connection.query(`grant ${privilege} ${which} on ${table} to ${name}`);
      }
    }
    await recordAct(connection, { kind: 'server_role_granted', operator, detail: { role } });
  });
}

/** Everything that a role can do and a server needn't, and that no `revoke` on our tables takes from the role itself. */
async function findExcess(db: Database, role: string): Promise<ExcessPrivilege[]> {
  const { beyond } = await findDeviations(db, 'public');
  const ofEveryRole = beyond.map((privilege) => ({
    what: `every role has ${privilege}`,
    remedy: `revoke ${privilege} from public`,
  }));
  return [...(await findExcessPrivileges(db, role)), ...ofEveryRole];
}

/** The message is a script: what is wrong stands as a comment above the statement that mends it. */
function refusePrivileges(role: string, powers: readonly ExcessPrivilege[]): void {
  if (powers.length === 0) return;
  const lines = powers.map(({ what, remedy }) => `\n  -- ${what.replaceAll(/\s+/g, ' ')}\n  ${remedy};`);
  throw new ServerRoleError(
    `${role} can do more than a server needs; this SQL takes it away:${lines.join('')}`,
  );
}

const COLUMNS_BUT = statement<{ table: string; but: string | null }>(
  '',
  `select quote_ident(attname) as name from pg_attribute
    where attrelid = @table::regclass and attnum > 0 and not attisdropped and attname is distinct from @but`,
);

async function columnsBut(db: Database, table: string, but: string | undefined): Promise<string> {
  const columns = await query<{ name: string }>(db, COLUMNS_BUT({ table, but: but ?? null }));
  return columns.map(({ name }) => name).join(', ');
}
