import { Option } from 'commander';
import { readDatabaseConfig, readOperator } from '../config.ts';
import { openStore } from '../openStore.ts';
import { countStrays } from '../store/schema/auditPartitions.ts';
import { migrate } from '../store/schema/migrate.ts';
import { schemaState } from '../store/schema/schemaState.ts';
import { grantServerRole } from '../store/schema/serverRole.ts';
import type { CommandTable } from './addCommands.ts';
import { print, say, warn } from './output.ts';
import { toStandardError } from './withStore.ts';

interface MigrateOptions {
  readonly status?: boolean;
  readonly serverRole?: string;
}

/** `assent migrate [--status] [--server-role ROLE]` */
export const DATABASE_COMMANDS: CommandTable = {
  migrate: [
    'bring the database schema to this build’s version',
    run,
    new Option('--status', 'change nothing, only say which version the schema has'),
    new Option(
      '--server-role <role>',
      'and then give this role the rights that a server needs, and no others; run as the owner of the tables',
    ).conflicts('status'),
  ],
};

async function run({ status = false, serverRole }: MigrateOptions): Promise<void> {
  const operator = readOperator();
  const store = await openStore(readDatabaseConfig(), toStandardError);
  try {
    const applied = status ? [] : (await migrate(store.pool)).map(({ name }) => name);
    for (const name of applied) say(`applied migrations/${name}`);
    if (!status) warnOfStrays(await countStrays(store.pool));
    const { version, known } = await schemaState(store.pool);
    if (serverRole !== undefined) {
      if (version > known)
        throw new Error(
          `the schema is newer than this build: give ${serverRole} its rights by the newer one`,
        );
      await grantServerRole(store.pool, serverRole, operator);
      say(`${serverRole} may read and write rows, and change no table`);
    }
    print(
      { version, known, applied, server_role: serverRole ?? null },
      `schema version ${version}, this build's is ${known}`,
    );
  } finally {
    await store.close();
  }
}

/** Rows whose time is out of range: somebody wrote them by hand, or set the database's clock. */
function warnOfStrays({ rows, early }: { readonly rows: number; readonly early: number }): void {
  if (rows === 0) return;
  const where = `${early} of months that no partition is made for because they are too long ago, ${rows - early} too far ahead`;
  warn(`the audit trail has rows that stay in audit_events_rest: ${where}`);
}
