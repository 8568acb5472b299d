import type pg from 'pg';
import { expect } from 'vitest';

const WAITING = `
select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Asks while `lock` is held, and ends the connection on which the answer is being waited for. */
export async function askAndCut<Answer>(
  pool: pg.Pool,
  lock: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const waiting = async () => (await pool.query<{ pid: number }>(WAITING)).rows.map(({ pid }) => pid);
  const holder = await pool.connect();
  try {
    await holder.query('begin');
    await holder.query(lock);
    const answer = ask();
    await expect.poll(waiting, { interval: 10 }).toHaveLength(1);
    const [cut] = await waiting();
    await pool.query('select pg_terminate_backend($1)', [cut]);
    await expect
      .poll(async () => (await waiting()).filter((pid) => pid !== cut), { interval: 10 })
      .toHaveLength(1);
    await holder.query('rollback');
    return await answer;
  } finally {
    holder.release();
  }
}
