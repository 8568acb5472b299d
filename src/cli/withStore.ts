import type { DatabaseConfig } from '../config/config.ts';
import { readDatabaseConfig, readOffer, readOperator, readServiceNames } from '../config/config.ts';
import type { Caller } from '../operations/operation.ts';
import { openMigratedStore, type Store, type StoreLog } from '../process/openStore.ts';
import type { Shell } from './shell.ts';
import { confirm } from './terminal.ts';

export type Open = (config: DatabaseConfig, log: StoreLog) => Promise<Store>;

/** Messages about the database; results go to standard output. */
export function storeLog(shell: Shell): StoreLog {
  const say = (line: string) => shell.say(line);
  return { info: say, warn: say };
}

/** Opens the database for a command, with or without a running server. @param yes confirms a loss in advance */
export async function withStore(
  shell: Shell,
  work: (caller: Caller) => Promise<void>,
  { yes = false, open = openMigratedStore }: { yes?: boolean; open?: Open | undefined } = {},
): Promise<void> {
  const { env } = shell.streams;
  const operator = readOperator(env);
  const store = await open(readDatabaseConfig(env), storeLog(shell));
  try {
    await work({
      db: store.pool,
      operator,
      serviceNames: () => readServiceNames(env),
      offer: () => readOffer(env),
      warn: (sentence) => shell.warn(sentence),
      progress: (count, what = 'revoked') => shell.showProgress(count, what),
      confirm: async (loss) => {
        if (!yes) await confirm(shell, await loss());
      },
    });
  } finally {
    await store.close();
  }
}
