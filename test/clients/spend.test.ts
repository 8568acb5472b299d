import { afterAll, expect, it } from 'vitest';
import { flowAt } from '../contract/flowAt.ts';
import { freePort, useServer } from '../support/server.ts';
import { callerOf } from './callers.ts';
import { describeWith, exampleFile, runBlock, startExample, useExampleFolder } from './examples.ts';

// docs/integrate/resources.md, "Let Assent count": its commands and examples/payments/spend.mjs, unchanged.

const server = await useServer({ countsPayments: true });
const { tokenFor } = await flowAt(server);
const client = await server.createClient();
const { id, secret } = callerOf(await server.createResource());
const variables = { ASSENT_URL: server.baseUrl, RESOURCE_ID: id, RESOURCE_SECRET: secret };

const PORT = String(await freePort());
const example = startExample(process.execPath, exampleFile('payments/spend.mjs'), useExampleFolder(), {
  ...variables,
  PORT,
});
afterAll(() => example.stop());
await example.stdout.until(/^POST .+/m);

let payments = 0;

/** Sends a payment to a shop. @returns the status and the result */
async function pay(token: string, changes: Record<string, string> = {}): Promise<string> {
  payments += 1;
  const body = { key: `key-${payments}`, shop: '337', amount: '100', currency: 'RUB', source: 'wallet' };
  const response = await fetch(`http://localhost:${PORT}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ ...body, ...changes }),
  });
  return `${response.status} ${((await response.json()) as { result: string }).result}`;
}

it('examples/payments/spend.mjs pays within the limit, and releases a payment that failed', async () => {
  const token = await tokenFor(client, { scope: 'payment-shop.limit(7,200)' });
  expect(await pay(token, { shop: 'closed', amount: '200' })).toBe('402 released');
  expect(await pay(token, { key: 'one' })).toBe('200 paid');
  expect(await pay(token, { key: 'one' })).toBe('200 paid');
  expect(await pay(token, { key: 'one', amount: '99' })).toBe('409 key_reused');
  expect(await pay(token, { amount: '100.01' })).toBe('403 over_budget');
  expect(await pay(token, { amount: '1,50' })).toBe(
    '400 The parameter amount must be a decimal such as 250.00.',
  );
  expect(await pay('nothing')).toBe('401 invalid_token');
});

describeWith(['bash', 'curl'], 'The curl commands of docs/integrate/resources.md', () => {
  it('reserve a payment, and release it', async () => {
    const token = await tokenFor(client, { scope: 'payment-shop.limit(7,250)', instance_name: 'curl' });
    const reserved = await runBlock('spend', { ...variables, ACCESS_TOKEN: token }, 'resources.md');
    expect(reserved).toMatchObject({ verdict: 'reserved', left: '0' });
    const GRANT_ID = String(reserved.grant_id);
    expect(await runBlock('release-spend', { ...variables, GRANT_ID }, 'resources.md')).toEqual({
      verdict: 'released',
    });
  });
});
