import pg from 'pg';
import { recordAct } from '../auditEvents.ts';
import { type Database, transaction } from '../database/database.ts';
import { queryOne, queryRow } from '../database/query.ts';
import { statement } from '../database/statement.ts';
import { findExcessPrivileges } from './excessPrivileges.ts';
import { findDeviations, TABLES } from './tablePrivileges.ts';

/**
 * Gives a role exactly what the server needs, and takes whatever else it had on our tables. Only for their owner.
 *
 * @throws {Error} when there is no such role, or it can do more by another way; then nothing has changed
 */
export async function grantServerRole(pool: pg.Pool, role: string, operator: string): Promise<void> {
  const name = pg.escapeIdentifier(role);
  await transaction(pool, async (connection) => {
    const found = await queryOne<{ schema: string }>(connection, SCHEMA({ role }));
    if (found === null) {
      throw new Error(
        `there is no role ${role}: create it, and give it a password with \\password in psql\n  create role ${name} login;`,
      );
    }
    await refuseExcess(connection, role);
    await connection.query(`revoke all on all tables in schema ${found.schema} from ${name}`);
    await connection.query(`grant usage on schema ${found.schema} to ${name}`);
    for (const { name: table, privileges, clocked = null } of TABLES) {
      const { columns } = await queryRow<{ columns: string }>(connection, COLUMNS({ table, clocked }));
      const given = privileges.replaceAll(/insert|update/g, `$& (${columns})`);
      await connection.query(`grant ${given} on ${table} to ${name}`);
    }
    await recordAct(connection, { kind: 'server_role_granted', operator, detail: { role } });
  });
}

/** Where our tables are, quoted where it has to be; no row without the role. */
const SCHEMA = statement<{ role: string }>(
  '',
  `select c.relnamespace::regnamespace::text as schema
     from pg_roles r, pg_class c where r.rolname = @role and c.oid = 'audit_events'::regclass`,
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
