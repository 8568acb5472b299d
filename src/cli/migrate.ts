import type { OperationContext } from '../operations/operation.ts';
import { migrateAndTell } from '../process/openStore.ts';
import { schemaState } from '../store/schema/schemaState.ts';
import { grantServerRole } from '../store/schema/serverRole.ts';
import type { Options } from './commands.ts';
import type { Shell } from './shell.ts';
import { withStore } from './withStore.ts';

export function runMigrate(shell: Shell, { status = false, serverRole }: Options): Promise<void> {
  const work = async ({ db, operator }: OperationContext) => {
    const applied = status ? [] : await migrateAndTell(db, shell.log, true);
    const { version, known, text } = await schemaState(db);
    if (serverRole !== undefined) {
      if (version > known)
        throw new Error(
          `the schema is newer than this build: grant ${serverRole} its privileges with the newer build`,
        );
      await grantServerRole(db, serverRole, operator);
      shell.say(`${serverRole} may read and write rows, but not change tables`);
    }
    shell.print(
      { version, known, applied: applied.map(({ name }) => name), server_role: serverRole ?? null },
      text,
    );
  };
  return withStore(shell, work, { effect: null });
}
