import { expect, it } from 'vitest';
import { useAdmin } from '../support/admin.ts';
import { whileHeld } from '../support/postgres/locks.ts';

const admin = await useAdmin();
const { pool } = admin.database;

const idsOf = async () => {
  const { rows } = await pool.query<{ client_id: string }>('select client_id from clients order by 1');
  return rows.map(({ client_id }) => client_id);
};

it('operations refused while waiting are not carried out later', async () => {
  const create = (_: unknown, n: number) =>
    admin.call('POST /v1/clients', { id: `c${n}`, name: `Shop ${n}`, redirect_uri: 'https://shop.example/' });
  const answers = await whileHeld(pool, 'lock table clients', [], () =>
    Promise.all(Array.from({ length: 30 }, create)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(answers.map(({ body }) => body.rule)).toContain('overload');
  for (const { headers } of answers) expect(headers.get('retry-after')).toBe('5');
  expect(
    (await admin.call('POST /v1/clients', { id: 'last', name: 'Last', redirect_uri: 'https://a.example/' }))
      .status,
  ).toBe(201);
  expect((await idsOf()).length).toBeLessThanOrEqual(1 + 2); // the last one, and those that had begun
  expect(await idsOf()).toContain('last');
});
