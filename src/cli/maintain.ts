import { Option } from 'commander';
import { readDatabaseConfig, readOperator } from '../config.ts';
import { type Maintenance, maintain } from '../flows/operators/maintain.ts';
import { openStore } from '../openStore.ts';
import type { CommandTable } from './addCommands.ts';
import { confirmPruning } from './audit.ts';
import { YES } from './confirm.ts';
import { report, warn } from './output.ts';
import { readNumber } from './readOption.ts';
import { toStandardError } from './withStore.ts';

/** `assent maintain`: for cron */
export const MAINTAIN_COMMANDS: CommandTable = {
  maintain: [
    'remove what has expired, make the months of the trail to come; for cron, as the owner of the tables',
    run,
    new Option(
      '--keep <months>',
      'also drop older months of the trail: how many before this one are kept',
    ).argParser(readNumber(9_999)),
    YES,
  ],
};

async function run({ keep = null, yes = false }: { keep?: number | null; yes?: boolean }): Promise<void> {
  const store = await openStore(readDatabaseConfig(), toStandardError);
  try {
    if (keep !== null && !yes) await confirmPruning(store.pool, keep);
    const done = await maintain(store.pool, keep, readOperator());
    for (const sentence of done.leftUndone) warn(`left undone: ${sentence}`);
    report(done, sentenceOf(done));
  } finally {
    await store.close();
  }
}

function sentenceOf({ expired, made, pruned, strays, analyzed }: Maintenance): string {
  const counts = Object.entries(expired).map(([table, rows]) => `${rows} ${table}`);
  return [
    `removed what had expired: ${counts.join(', ')}`,
    ...made.map((name) => `made ${name}`),
    ...pruned.map((month) => `dropped ${month}`),
    ...(strays > 0 ? [`${strays} rows of the trail belong to no month that may have a partition`] : []),
    ...(analyzed ? ['analyzed the trail'] : []),
  ].join('\n');
}
