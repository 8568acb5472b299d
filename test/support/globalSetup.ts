import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/store/database.ts';
import { joinEmbeddedPostgres } from '../../src/store/embedded.ts';
import { migrate } from '../../src/store/migrate.ts';
import { makeDataDir, removeDataDir } from './folder.ts';

/** The database that every test file copies: migrated once, empty. */
export const TEMPLATE = 'assent_template';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: { host: string; port: number; user: string };
    postgresLog: string;
  }
}

/** One real PostgreSQL for the whole run, in a folder of its own. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const dataDir = makeDataDir();
  const embedded = await joinEmbeddedPostgres(dataDir);
  const { host, port, user } = embedded.connection();
  const admin = openDatabase(embedded.connection(), () => {});
  await admin.query(`create database ${TEMPLATE}`);
  await admin.end();
  const template = openDatabase({ host, port, user, database: TEMPLATE }, () => {});
  await migrate(template);
  await template.end();
  provide('postgres', { host, port, user });
  provide('postgresLog', join(dataDir, 'postgres.log'));
  return async () => {
    await embedded.leave();
    removeDataDir(dataDir);
  };
}
