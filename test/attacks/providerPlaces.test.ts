import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { ExchangeLimiter } from '../../src/flows/signIn/provider/exchangeLimiter.ts';
import { copyOf } from '../support/account.ts';
import { Agent } from '../support/http/agent.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import { CALLER, useServer } from '../support/server.ts';
import { callbackOf, leaveFor, passWallet, useWallet } from '../support/wallet.ts';
import { logOf } from './refusals.ts';

// An attacker sends codes that the wallet never issued: to take the turns of others, or to make us send our credentials.

const wallet = await useWallet();
const server = await useServer({ provider: wallet.settings, trustProxy: 1 });
const MADE_UP = { token: { status: 400, body: '{"error":"invalid_grant"}' } };

let networks = 0;
const newNetwork = () => {
  networks += 1;
  return `2001:db8:${networks}::1`;
};
const at = (address: string) => new Agent(server.baseUrl, { 'x-forwarded-for': address });

/** A browser that has come back from the wallet, but for the last step. */
async function returning(address: string, agent = at(address)) {
  return { agent, callback: await callbackOf(agent, await leaveFor(wallet, agent, '/oauth/account')) };
}

const withCode = (callback: string, code: string) => callback.replace(/code=[^&]*/, `code=${code}`);

/** A network with a known device, which can sign in as others can, whatever happens there. */
async function newPlace() {
  const address = newNetwork();
  const known = at(address);
  await passWallet(wallet, known, '/oauth/account');
  known.cookies.delete('assent_session');
  wallet.exchanges.length = 0;
  const expectUnaffected = async () => {
    wallet.replaced = {};
    for (const honest of [at(newNetwork()), known])
      expect((await passWallet(wallet, honest, '/oauth/account')).status).toBe(303);
  };
  return { address, expectUnaffected };
}

it('a sign-in exchanges only a few codes, even if its cookie is copied and sent concurrently', async () => {
  const { agent, callback } = await returning(newNetwork());
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      copyOf(agent).get(`${withCode(callback, `made-up-${index}`)}${index % 2 === 0 ? '' : '&error='}`),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
  const late = await copyOf(agent).get(withCode(callback, 'made-up-late'));
  expect(await logOf(server, late)).toMatchObject({ rule_id: 'sign_in_lost' });
  expect(wallet.exchanges).toHaveLength(3);
  expect((await copyOf(agent).get(callback)).status).toBe(400);
});

it('a network is throttled after too many refused codes, but not known devices or others', async () => {
  const { address, expectUnaffected } = await newPlace();
  wallet.replaced = MADE_UP;
  const refusals = async () => (await passWallet(wallet, at(address), '/oauth/account')).status;
  await vi.waitUntil(async () => (await refusals()) === 429, { timeout: 30_000, interval: 0 });
  expect(wallet.exchanges).toHaveLength(31);

  const { agent, callback } = await returning(address);
  const rows = await rowsOf(server.database);
  const answer = await agent.get(callback);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60']);
  expect(answer.text).toContain('Signing in works again in a minute.');
  expect(answer.body).toContain('href="/oauth/sign-in"');
  expect(await logOf(server, answer)).toMatchObject({ rule_id: 'too_many_tries' });
  expect([wallet.exchanges.length, await rowsOf(server.database)]).toEqual([31, rows]);
  await expectUnaffected();
});

it('one network gets a share of the concurrent code exchanges; known devices and others don’t wait [providerPlaces-1]', async () => {
  const { address, expectUnaffected } = await newPlace();
  const many = await Promise.all(Array.from({ length: 15 }, () => returning(address)));
  const gate = new EventEmitter();
  wallet.exchanges.length = 0;
  wallet.replaced = { held: once(gate, 'open') };
  const sent = many.map(({ agent, callback }) => agent.get(callback));
  await vi.waitUntil(() => wallet.exchanges.length >= 10);
  await expectUnaffected();
  expect(wallet.exchanges).toHaveLength(12);
  gate.emit('open');
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(many.map(() => 303));
});

it('a tenth of the concurrent code exchanges is reserved for known devices', async () => {
  const [limiter, gate] = [new ExchangeLimiter(), new EventEmitter()];
  const held = once(gate, 'open');
  const from = (network: number) => ({
    ...CALLER,
    address: `192.0.2.${network}`,
    decideBy: Number.POSITIVE_INFINITY,
  });
  const strangers = Array.from({ length: 90 }, (_, index) =>
    limiter.run(from(Math.floor(index / 10)), null, randomUUID(), () => held),
  );
  const started: string[] = [];
  const late = limiter.run(from(100), null, 'late', async () => started.push('late'));
  await limiter.run(from(200), 'a known user', 'known', async () => started.push('known'));
  gate.emit('open');
  await Promise.all([...strangers, late]);
  expect(started).toEqual(['known', 'late']);
});
