import pg from 'pg';
import { recordAct } from '../auditEvents.ts';
import type { Database } from '../database/database.ts';
import { queryOne, queryRow } from '../database/query.ts';
import { statement } from '../database/statement.ts';
import { alone } from './alone.ts';
import { findExcessPrivileges } from './excessPrivileges.ts';
import { findDeviations, TABLES } from './tablePrivileges.ts';

/**
 * Gives a role exactly what the server needs, and takes whatever else it had on our tables. Only for their owner. Temporary
 * tables, which PostgreSQL lets every role make, are taken from PUBLIC and the role where the database is the owner's.
 *
 * @throws {Error} when there is no such role, or it can do more by another way; then nothing has changed
 */
export function grantServerRole(pool: pg.Pool, role: string, operator: string): Promise<void> {
  return alone(pool, (connection) => giveRights(connection, role, operator));
}

/** Makes a role that signs in without a password, and gives it what a server needs, unless all that is done: for trial mode. */
export function ensureServerRole(pool: pg.Pool, role: string, operator: string): Promise<void> {
  return alone(pool, async (connection) => {
    if ((await queryOne(connection, PLACE({ role }))) === null)
      await connection.query(`create role ${pg.escapeIdentifier(role)} login`);
    const { lacking, beyond } = await findDeviations(connection, role);
    if (lacking.length + beyond.length > 0) await giveRights(connection, role, operator);
  });
}

async function giveRights(connection: pg.PoolClient, role: string, operator: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  const place = await queryOne<{ schema: string; database: string; isOurs: boolean }>(
    connection,
    PLACE({ role }),
  );
  if (place === null) {
    throw new Error(
      `there is no role ${role}: create it, and give it a password with \\password in psql\n  create role ${name} login;`,
    );
  }
  if (place.isOurs)
    await connection.query(`revoke temporary on database ${place.database} from public, ${name}`);
  await refuseExcess(connection, role);
  await connection.query(`revoke all on all tables in schema ${place.schema} from ${name}`);
  await connection.query(`grant usage on schema ${place.schema} to ${name}`);
  for (const { name: table, privileges, clocked = null } of TABLES) {
    const { columns } = await queryRow<{ columns: string }>(connection, COLUMNS({ table, clocked }));
    const given = privileges.replaceAll(/insert|update/g, `$& (${columns})`);
    await connection.query(`grant ${given} on ${table} to ${name}`);
  }
  await recordAct(connection, { kind: 'server_role_granted', operator, detail: { role } });
}

/** Where our tables are, quoted where it has to be, and whether we own the database; no row without the role. */
const PLACE = statement<{ role: string }>(
  '',
  `select c.relnamespace::regnamespace::text as schema, quote_ident(datname) as database,
          pg_has_role(datdba, 'usage') as "isOurs"
     from pg_roles r, pg_class c, pg_database d
    where r.rolname = @role and c.oid = 'audit_events'::regclass and datname = current_database()`,
);

const COLUMNS = statement<{ table: string; clocked: string | null }>(
  '',
  `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
    where attrelid = @table::regclass and attnum > 0 and not attisdropped and attname is distinct from @clocked`,
);

/**
 * Refuses a role that can do what a server needn't, and what no `revoke` on our tables takes from the role itself. The
 * message is a script: what is wrong stands as a comment above the statement that mends it.
 */
async function refuseExcess(db: Database, role: string): Promise<void> {
  const { beyond } = await findDeviations(db, 'public');
  const ofEveryRole = beyond.map((privilege) => ({
    what: `every role has ${privilege}`,
    remedy: `revoke ${privilege} from public`,
  }));
  const excess = [...(await findExcessPrivileges(db, role)), ...ofEveryRole];
  if (excess.length === 0) return;
  const lines = excess.map(({ what, remedy }) => `\n  -- ${what.replaceAll(/\s+/g, ' ')}\n  ${remedy};`);
  throw new Error(`${role} can do more than a server needs; this SQL takes it away:${lines.join('')}`);
}
