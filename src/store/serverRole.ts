import pg from 'pg';
import { type Database, select, transaction } from './database.ts';

/**
 * What a server and its commands need: to read and write rows. Nothing here lets them change a table, drop one, or
 * rewrite the audit trail; rows of `grants` go only with their user or client.
 */
const PRIVILEGES: Readonly<Record<string, string>> = {
  schema_migrations: 'select',
  clients: 'select, insert, update, delete',
  client_secrets: 'select, insert, update',
  users: 'select, insert, update',
  sessions: 'select, insert, update, delete',
  grants: 'select, insert, update',
  audit_events: 'select, insert',
  resources: 'select, insert',
  throttles: 'select, insert, update, delete',
  refusals: 'select, insert, update, delete',
};

const LACKING = {
  name: '',
  text: `
select privilege || ' on ' || name as lacking
  from unnest($1::text[], $2::text[]) as needed (name, privilege)
 where not has_table_privilege(name, privilege)`,
};

/** What the role that we are connected as lacks of what a server needs, such as `insert on grants`. */
export async function lackingPrivileges(db: Database): Promise<string[]> {
  const needed = Object.entries(PRIVILEGES).flatMap(([table, privileges]) =>
    privileges.split(', ').map((privilege) => [table, privilege] as const),
  );
  const values = [needed.map(([table]) => table), needed.map(([, privilege]) => privilege)];
  return (await select<{ lacking: string }>(db, LACKING, values)).map(({ lacking }) => lacking);
}

/** A role that can't be the server's; the message says what to do. */
export class ServerRoleError extends Error {}

/**
 * Gives a role exactly what the server needs, and takes whatever else it had on our tables. Only for their owner.
 *
 * @throws {ServerRoleError} when there is no such role, or it could help itself to more
 */
export async function grantServerRole(pool: pg.Pool, role: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  await transaction(pool, async (connection) => {
    const { rows } = await connection.query<{ tooMighty: boolean; schema: string }>(
      `select r.rolsuper or r.rolcreaterole or pg_has_role(r.oid, c.relowner, 'member')
                or has_schema_privilege(r.oid, c.relnamespace, 'create') as "tooMighty",
              c.relnamespace::regnamespace::text as schema  -- quoted where it has to be
         from pg_roles r, pg_class c where r.rolname = $1 and c.oid = 'audit_events'::regclass`,
      [role],
    );
    const [found] = rows;
    if (found === undefined) {
      throw new ServerRoleError(
        `there is no role ${role}: create it first, with "create role ${name} login password '…'"`,
      );
    }
    if (found.tooMighty) {
      throw new ServerRoleError(
        `${role} may change the schema, by itself or as a member of another role: nothing could be kept from it`,
      );
    }
    await connection.query(`revoke all on all tables in schema ${found.schema} from ${name}`);
    await connection.query(`grant usage on schema ${found.schema} to ${name}`);
    for (const [table, privileges] of Object.entries(PRIVILEGES)) {
      await connection.query(`grant ${privileges} on ${table} to ${name}`);
    }
  });
}
