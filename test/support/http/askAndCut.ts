import type pg from 'pg';
import { expect } from 'vitest';
import { waitForLocks, waiting, whileHeld } from '../postgres/locks.ts';

/** Asks while `lock` is held, and ends the connection on which the answer is being waited for. */
export async function askAndCut<Answer>(
  pool: pg.Pool,
  lock: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const { answer } = await whileHeld(pool, lock, [], async () => {
    const answer = ask();
    await waitForLocks(pool, 1);
    const [cut] = await waiting(pool);
    await pool.query('select pg_terminate_backend($1)', [cut]);
    const others = async () => (await waiting(pool)).filter((pid) => pid !== cut);
    await expect.poll(others, { interval: 10 }).toHaveLength(1);
    return { answer };
  });
  return answer;
}
