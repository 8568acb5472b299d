import {
  readDatabaseConfig,
  readOffer,
  readOperatorName,
  readReservedNames,
  settingsOf,
} from '../config/config.ts';
import type { OperationContext } from '../operations/operation.ts';
import { checkSchema, migrateAndTell, openStore } from '../process/openStore.ts';
import type { AccessLevel } from '../rules/account/role.ts';
import { OperatorError } from '../rules/common/error.ts';
import { differing, findSettings, saveSettings } from '../store/schema/settings.ts';
import type { Shell } from './shell.ts';
import { confirm } from './terminal.ts';

/** Opens the database for a command. @param effect `reads` leaves the schema as it is; null if the command itself judges it */
export async function withStore(
  shell: Shell,
  work: (context: OperationContext) => Promise<void>,
  { effect, yes = false }: { effect: AccessLevel | null; yes?: boolean },
): Promise<void> {
  const { log, streams } = shell;
  const { env } = streams;
  const name = readOperatorName(env);
  const config = readDatabaseConfig(env);
  const { pool, close } = await openStore(config, log);
  try {
    if (effect === 'reads' && config.databaseUrl !== null) await checkSchema(pool, log);
    else if (effect !== null) await migrateAndTell(pool, log);
    await work({
      db: pool,
      operator: { name },
      serviceNames: () => readReservedNames(env),
      commandNames: [name],
      async offer(keeps = false) {
        const stored = await findSettings(pool);
        const offer = readOffer(env, stored);
        const own = settingsOf(offer);
        const others = differing(own, stored);
        if (others.length > 0)
          throw new OperatorError(
            'state',
            `${others.join(' and ')} must be as the servers of this database have it`,
          );
        if (keeps) await saveSettings(pool, own);
        return offer;
      },
      warn: (sentence) => shell.warn(sentence),
      progress: (count, what = 'revoked') => shell.showProgress(count, what),
      confirm: async (loss) => {
        if (!yes) await confirm(shell, await loss());
      },
    });
  } finally {
    await close();
  }
}
