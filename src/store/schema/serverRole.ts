import pg from 'pg';
import { recordAct } from '../common/auditEvents.ts';
import type { Database } from '../database/database.ts';
import { findOne, findRow } from '../database/query.ts';
import { findExcessPrivileges } from './excessPrivileges.ts';
import { withMigrationLock } from './migrationLock.ts';
import { findDeviations, TABLES } from './tablePrivileges.ts';

/** The location of our tables, quoted if necessary, and whether we own the database; no row without the role. */
const findPlace = findOne<{ role: string }, { schema: string; database: string; isOurs: boolean }>('')`
  select c.relnamespace::regnamespace::text as schema, quote_ident(datname) as database,
         pg_has_role(datdba, 'usage') as "isOurs"
    from pg_roles r, pg_class c, pg_database d
   where r.rolname = @role and c.oid = 'audit_events'::regclass and datname = current_database()`;

const findColumns = findRow<{ table: string; clocked: string | null }, { columns: string }>('')`
  select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
   where attrelid = @table::regclass and attnum > 0 and not attisdropped and attname is distinct from @clocked`;

/**
 * Gives a role exactly the server's rights on our tables. TEMPORARY, which PostgreSQL gives every role, is revoked from PUBLIC
 * and the role if the database is the owner's.
 * @throws {Error} if there is no such role, or it has further powers; then nothing has changed
 */
export function grantServerRole(pool: pg.Pool, role: string, operator: string): Promise<void> {
  return withMigrationLock(pool, (connection) => giveRights(connection, role, operator));
}

/** Makes a missing role that signs in without a password, with the server's rights: for trial mode. */
export function ensureServerRole(pool: pg.Pool, role: string, operator: string): Promise<void> {
  return withMigrationLock(pool, async (connection) => {
    if ((await findPlace(connection, { role })) === null)
      await connection.query(`create role ${pg.escapeIdentifier(role)} login`);
    const { lacking, beyond } = await findDeviations(connection, role);
    if (lacking.length + beyond.length > 0) await giveRights(connection, role, operator);
  });
}

async function giveRights(connection: pg.PoolClient, role: string, operator: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  const place = await findPlace(connection, { role });
  if (place === null) {
    throw new Error(
      `there is no role ${role}: create it, and set its password with \\password in psql\n  create role ${name} login;`,
    );
  }
  if (place.isOurs)
    await connection.query(`revoke temporary on database ${place.database} from public, ${name}`);
  await refuseExcess(connection, role);
  await connection.query(`revoke all on all tables in schema ${place.schema} from ${name}`);
  await connection.query(`grant usage on schema ${place.schema} to ${name}`);
  for (const { name: table, privileges, clocked = null } of TABLES) {
    const { columns } = await findColumns(connection, { table, clocked });
    const given = privileges.replaceAll(/insert|update/g, `$& (${columns})`);
    await connection.query(`grant ${given} on ${table} to ${name}`);
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
