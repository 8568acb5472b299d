import type { Command } from 'commander';
import { readDatabaseConfig } from '../config.ts';
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
