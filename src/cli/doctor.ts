import type { Command } from 'commander';
import type pg from 'pg';
import { readConfig } from '../config.ts';
import { ownsTables } from '../store/auditPartitions.ts';
import { findDatabaseFacts } from '../store/health.ts';
import { listMigrations, schemaVersion } from '../store/migrate.ts';
import { openStore } from '../store/store.ts';
import { toStandardError } from './withStore.ts';

const OLDEST_POSTGRES = 150_000;
/** Beyond this the operator's own timestamps mislead; Assent itself goes by the database's clock alone. */
const TOLERABLE_SKEW_SECONDS = 5;

interface Finding {
  /** What is not good is wrong, or `advice`: it works, and could be safer. */
  readonly good: boolean | 'advice';
  readonly text: string;
}

/** `assent doctor`: looks at what usually is wrong before a person has to. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check configuration and database; exit code 1 when something is wrong')
    .action(async () => {
      const findings = await examine();
      for (const { good, text } of findings) console.log(`${LABELS[String(good)]} ${text}`);
      if (findings.some(({ good }) => good === false)) process.exitCode = 1;
    });
}

const LABELS: Readonly<Record<string, string>> = { true: 'ok     ', false: 'WRONG  ', advice: 'ADVICE ' };

async function examine(): Promise<Finding[]> {
  const config = readConfig();
  const store = await openStore(config, toStandardError);
  try {
    const { versionNumber, version, skewSeconds } = await findDatabaseFacts(store.pool);
    const [schema, known] = [await schemaVersion(store.pool), (await listMigrations()).length];
    return [
      { good: true, text: 'configuration is complete' },
      { good: versionNumber >= OLDEST_POSTGRES, text: `PostgreSQL ${version}, 15 or newer is needed` },
      { good: schema === known, text: `schema version ${schema}, this build's is ${known}` },
      {
        good: skewSeconds < TOLERABLE_SKEW_SECONDS,
        text: `clocks of server and database differ by ${skewSeconds.toFixed(1)} s`,
      },
      { good: isSafeAddress(config.baseUrl), text: `BASE_URL ${config.baseUrl}: https, or this machine` },
      ...(config.databaseUrl === null || schema === 0 ? [] : [await examineRole(store.pool)]),
    ];
  } finally {
    await store.close();
  }
}

async function examineRole(pool: pg.Pool): Promise<Finding> {
  return (await ownsTables(pool))
    ? {
        good: 'advice',
        text: 'the role of DATABASE_URL may change tables: see "Two roles" in docs/operating.md',
      }
    : { good: true, text: 'the role of DATABASE_URL may read and write rows, and change no table' };
}

function isSafeAddress(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
