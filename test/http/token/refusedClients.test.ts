import { expect, it } from 'vitest';
import { logOf } from '../../attacks/refusals.ts';
import { flowAt } from '../../contract/flowAt.ts';
import { linkTo, requestOf, tokenRequestOf } from '../../support/flow.ts';
import type { Answer } from '../../support/http/agent.ts';
import { basic, type Fields } from '../../support/http/tokenRequests.ts';
import { setClientStatus, setResourceStatus } from '../../support/operators.ts';
import { type TestClient, useServer } from '../../support/server.ts';

// Which application, or resource server, broke? The log line of a refusal says so, if it is registered.

const server = await useServer();
const { agent, codeFor, resource } = await flowAt(server);
const { pool } = server.database;
const shop = await server.createClient();
const blocked = await server.createClient();
await setClientStatus(pool, blocked.clientId, 'blocked', 'tests');
const STRANGER = 'not-registered-here';

const expectNamed = async (answer: Answer, named: Fields) => {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  const line = await logOf(server, answer);
  expect(line).toMatchObject({ error: expect.any(String), ...named });
  for (const field of ['client_id', 'resource_id'])
    if (!(field in named)) expect(line).not.toHaveProperty(field);
  expect(JSON.stringify(line)).not.toContain(STRANGER);
};

const ask = (headers: Fields) => agent.post('/oauth/introspect', { token: 'x' }, headers);
const named = ({ clientId }: TestClient) => ({ client_id: clientId });

it.each<[what: string, fields: Fields, client: TestClient]>([
  ['a wrong scope', { scope: 'nothing' }, shop],
  ['a wrong redirect_uri', { redirect_uri: 'https://elsewhere.example/' }, shop],
  ['a wrong response_type', { response_type: 'token' }, shop],
  ['an application that is blocked', {}, blocked],
])('a refused authorization request names its application: %s', async (_what, fields, client) => {
  await expectNamed(await agent.post('/oauth/authorize', requestOf(client, fields)), named(client));
  await expectNamed(await agent.get(linkTo(requestOf(client, fields))), named(client));
});

it.each<[what: string, fields: Fields, client: TestClient]>([
  ['a wrong secret', { client_secret: 'wrong' }, shop],
  ['an unknown code', {}, shop],
  ['a right code with another redirect_uri', { redirect_uri: `${shop.redirectUri}?x` }, shop],
  ['an application that is blocked', {}, blocked],
])('a refused token request names its application: %s', async (what, fields, client) => {
  const code = await codeFor(shop);
  for (const sent of ['x', what.startsWith('a right code') ? code : `${code}x`])
    await expectNamed(await agent.post('/oauth/token', tokenRequestOf(client, sent, fields)), named(client));
});

it('a refused revocation names its application', async () => {
  for (const client of [shop, blocked]) {
    const form = { ...named(client), client_secret: 'wrong', token: 'x' };
    await expectNamed(await agent.post('/oauth/revoke', form), named(client));
  }
});

it('a refused introspection names its resource server', async () => {
  const [id = ''] = Buffer.from(resource.slice('Basic '.length), 'base64').toString().split(':');
  await expectNamed(await ask(basic(id, 'wrong')), { resource_id: id });
  await setResourceStatus(pool, id, 'blocked', 'tests');
  await expectNamed(await ask({ authorization: resource }), { resource_id: id });
});

it('an id that is not registered is never logged', async () => {
  const client = { ...shop, clientId: STRANGER };
  for (const answer of [
    await agent.post('/oauth/authorize', requestOf(client)),
    await agent.post('/oauth/token', tokenRequestOf(client, 'x')),
    await agent.post('/oauth/token', { client_id: STRANGER }),
    await agent.post('/oauth/revoke', { client_id: STRANGER, token: 'x' }),
    await ask(basic(STRANGER, 'x')),
    await ask({}),
  ])
    await expectNamed(answer, {});
});
