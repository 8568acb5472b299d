import { checkTables } from '../store/health.ts';
import type { Context } from './context.ts';

/** Whether the server can do its work. @throws when the database is away or is not ours */
export function checkReady({ db }: Context): Promise<void> {
  return checkTables(db);
}
