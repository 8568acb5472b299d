import type { Context } from './context.ts';

/** Whether the server can do its work. @throws when the database is away or is not ours */
export async function checkReady({ db }: Context): Promise<void> {
  await db.query('select from clients limit 0');
}
