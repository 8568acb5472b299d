import { expect, it } from 'vitest';
import { flowAt } from '../../contract/flowAt.ts';
import { useServer } from '../../support/server.ts';

// The account page says what is used of a limit, with SPENDING=on.

const server = await useServer({ countsPayments: true });
const { agent, resource, tokenFor } = await flowAt(server);
const client = await server.createClient();

const spend = (token: string, key: string, amount: string) =>
  agent.post(
    '/oauth/spend',
    { token, key, amount, currency: 'RUB', source: 'wallet', shop: '337' },
    { authorization: resource },
  );

it('the account page says what a right has spent, and when it is free again', async () => {
  const token = await tokenFor(client, { scope: 'payment-shop.limit(7,5000)' });
  expect((await agent.get('/oauth/account')).text).not.toContain('used ·');
  await spend(token, 'one', '800');
  const { body, text } = await agent.get('/oauth/account');
  expect(body).toContain('<meter max="5000" value="800"');
  expect(text).toMatch(/RUB\s800 of RUB\s5,000 used · free again on \d/);
  await spend(token, 'two', '400');
  expect((await agent.get('/oauth/account')).text).toMatch(
    /RUB\s1,200 of RUB\s5,000 used · RUB\s800 free again on \d/,
  );
});

it('the account page says that a one-time payment is made', async () => {
  const token = await tokenFor(client, { scope: 'payment-shop.limit(,500)' });
  await spend(token, 'three', '500');
  expect((await agent.get('/oauth/account')).text).toMatch(/RUB\s500 of RUB\s500 used/);
});
