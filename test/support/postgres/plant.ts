import type { TestDatabase } from './database.ts';
import { withClient } from './postgres.ts';

export async function plant({ url }: TestDatabase, ...statements: string[]): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('set session_replication_role = replica');
    for (const statement of statements) await client.query(statement);
  });
}
