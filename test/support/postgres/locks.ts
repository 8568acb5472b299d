import type pg from 'pg';
import { expect } from 'vitest';

const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

export async function waiting(pool: pg.Pool): Promise<number[]> {
  return (await pool.query<{ pid: number }>(WAITING)).rows.map(({ pid }) => pid);
}

export function waitForLocks(pool: pg.Pool, count: number): Promise<void> {
  return expect.poll(async () => (await waiting(pool)).length, { interval: 10 }).toBe(count);
}

/** Runs `work` while another transaction has done `statement`, which is rolled back afterwards. */
export async function whileHeld<Result>(
  pool: pg.Pool,
  statement: string,
  values: unknown[],
  work: () => Promise<Result>,
): Promise<Result> {
  const holder = await pool.connect();
  try {
    await holder.query('begin');
    await holder.query(statement, values);
    return await work();
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

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
