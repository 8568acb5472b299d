import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { listMigrations, schemaVersion } from '../store/migrate.ts';
import { openStore } from '../store/store.ts';
import { toStandardError } from './withStore.ts';

const OLDEST_POSTGRES = 150_000;
/** Beyond this the operator's own timestamps mislead; Assent itself goes by the database's clock alone. */
const TOLERABLE_SKEW_SECONDS = 5;

interface Finding {
  readonly good: boolean;
  readonly text: string;
}

/** `assent doctor`: looks at what usually is wrong before a person has to. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check configuration and database; exit code 1 when something is wrong')
    .action(async () => {
      const findings = await examine();
      for (const { good, text } of findings) console.log(`${good ? 'ok     ' : 'WRONG  '} ${text}`);
      if (findings.some(({ good }) => !good)) process.exitCode = 1;
    });
}

async function examine(): Promise<Finding[]> {
  const config = readConfig();
  const store = await openStore(config, toStandardError);
  try {
    const { rows } = await store.pool.query<{ version: number; name: string; skew: number }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_version') as name,
              abs(extract(epoch from clock_timestamp()) - $1)::float8 as skew`,
      [Date.now() / 1000],
    );
    const { version = 0, name = 'unknown', skew = 0 } = rows[0] ?? {};
    const [schema, known] = [await schemaVersion(store.pool), (await listMigrations()).length];
    return [
      { good: true, text: 'configuration is complete' },
      { good: version >= OLDEST_POSTGRES, text: `PostgreSQL ${name}, 15 or newer is needed` },
      { good: schema === known, text: `schema version ${schema}, this build's is ${known}` },
      {
        good: skew < TOLERABLE_SKEW_SECONDS,
        text: `clocks of server and database differ by ${skew.toFixed(1)} s`,
      },
      { good: isSafeAddress(config.baseUrl), text: `BASE_URL ${config.baseUrl}: https, or this machine` },
    ];
  } finally {
    await store.close();
  }
}

function isSafeAddress(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
