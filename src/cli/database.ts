import type { Command } from 'commander';
import { readDatabaseConfig } from '../config.ts';
import { listMigrations, migrate, schemaVersion } from '../store/migrate.ts';
import { openStore } from '../store/store.ts';
import { toStandardError } from './withStore.ts';

/** `assent migrate [--status]` */
export function databaseCommands(program: Command): void {
  program
    .command('migrate')
    .description("bring the database to this build's version")
    .option('--status', 'only say where it stands')
    .action(async ({ status }: { status?: boolean }) => {
      const store = await openStore(readDatabaseConfig(), toStandardError);
      try {
        if (!status)
          for (const { name } of await migrate(store.pool)) console.error(`applied migrations/${name}`);
        const known = (await listMigrations()).length;
        console.log(`schema version ${await schemaVersion(store.pool)}, this build's is ${known}`);
      } finally {
        await store.close();
      }
    });
}
