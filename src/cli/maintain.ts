import { InvalidArgumentError, Option } from 'commander';
import { readDatabaseConfig, readOperator } from '../config.ts';
import { type Maintenance, maintain } from '../flows/operators/maintain.ts';
import { openStore } from '../openStore.ts';
import type { CommandTable } from './addCommands.ts';
import { report, warn } from './output.ts';
import { toStandardError } from './withStore.ts';

/** `assent maintain`: for cron */
export const MAINTAIN_COMMANDS: CommandTable = {
  maintain: [
    'remove what has expired, make the months of the trail to come; for cron, as the owner of the tables',
    run,
    new Option(
      '--keep <months>',
      'also drop older months of the trail: how many before this one are kept',
    ).argParser(readMonths),
  ],
};

function readMonths(text: string): number {
  if (!/^(?!0+$)\d{1,4}$/.test(text)) throw new InvalidArgumentError('Not a number of months from 1 on.');
  return Number(text);
}

async function run({ keep = null }: { keep?: number | null }): Promise<void> {
  const store = await openStore(readDatabaseConfig(), toStandardError);
  try {
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
