import { afterAll } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { openLine } from '../support/http/line.ts';
import { createDatabase } from '../support/postgres/database.ts';
import { startServer } from '../support/server.ts';

/** Two replicas on one database: statements of the `slow` one can be held back on their way to PostgreSQL. */
export async function useReplicas() {
  const [line, database] = [await openLine(), await createDatabase()];
  const pool = openDatabase(line.url(database));
  const slow = await startServer({ database: { ...database, pool } });
  const other = await startServer({ database });
  afterAll(async () => {
    await slow.close();
    await other.close();
    await pool.end();
    line.close();
    await database.drop();
  });
  return { line, database, slow, other };
}
