import { expect, it } from 'vitest';
import { useAdmin } from '../support/admin.ts';
import { whileHeld } from '../support/postgres/locks.ts';

const admin = await useAdmin();
const { pool } = admin.database;

it('operations refused while waiting are not carried out later', async () => {
  const create = (_: unknown, n: number) =>
    admin.call('POST /v1/clients', { id: `c${n}`, name: `Shop ${n}`, redirect_uri: 'https://shop.example/' });
  const answers = await whileHeld(pool, 'lock table clients', [], () =>
    Promise.all(Array.from({ length: 30 }, create)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers.map(({ body }) => body.rule)).toContain('overload');
  for (const { headers } of answers) expect(headers.get('retry-after')).toBe('5');
  expect((await create(undefined, 31)).status).toBe(201);
  const { rowCount } = await pool.query('select from clients');
  expect(rowCount).toBeLessThanOrEqual(1 + 2); // the last one, and those that had begun
});
