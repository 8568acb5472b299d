import type { Command } from 'commander';
import { readDatabaseConfig } from '../config.ts';
import { countStrays } from '../store/auditPartitions.ts';
import { listMigrations, migrate, schemaVersion } from '../store/migrate.ts';
import { grantServerRole } from '../store/serverRole.ts';
import { openStore } from '../store/store.ts';
import { toStandardError } from './withStore.ts';

/** `assent migrate [--status] [--server-role ROLE]` */
export function databaseCommands(program: Command): void {
  program
    .command('migrate')
    .description("bring the database to this build's version")
    .option('--status', 'only say where it stands')
    .option(
      '--server-role <role>',
      'give this role what the server needs, and nothing more; run as the owner of the tables',
    )
    .action(async ({ status, serverRole }: { status?: boolean; serverRole?: string }) => {
      const store = await openStore(readDatabaseConfig(), toStandardError);
      try {
        if (!status)
          for (const { name } of await migrate(store.pool)) console.error(`applied migrations/${name}`);
        if (!status) sayStrays(await countStrays(store.pool));
        if (!status && serverRole !== undefined) {
          await grantServerRole(store.pool, serverRole);
          console.error(`${serverRole} may read and write rows, and change no table`);
        }
        const known = (await listMigrations()).length;
        console.log(`schema version ${await schemaVersion(store.pool)}, this build's is ${known}`);
      } finally {
        await store.close();
      }
    });
}

/** Rows of the trail that claim to be of another time than Assent's: somebody wrote them, or set the database's clock. */
function sayStrays({ rows, early }: { readonly rows: number; readonly early: number }): void {
  if (rows === 0) return;
  const where = `${early} of months that no partition is made for because they are too long ago, ${rows - early} too far ahead`;
  console.error(`the audit trail has rows that stay in audit_events_rest: ${where}`);
}
