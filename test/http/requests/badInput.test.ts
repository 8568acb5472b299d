import { describe, expect, it } from 'vitest';
import { requestOf, tokenRequestOf } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { converse } from '../../support/http/rawHttp.ts';
import { change, documentOf, expectTokenError } from '../../support/http/tokenRequests.ts';
import { newSecret } from '../../support/ledger.ts';
import { expectErrorPage } from '../../support/pages.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();

const client = await server.createClient();
const agent = new Agent(server.baseUrl);

const FORM = 'application/x-www-form-urlencoded';

/** Nothing here may change anything. */
const before = await rowsOf(server.database);

async function expectPage(answer: Answer, code = 'invalid_request'): Promise<void> {
  expectErrorPage(answer, code);
  expect(await rowsOf(server.database)).toBe(before);
}

async function expectJson(answer: Answer): Promise<void> {
  expectTokenError(answer, 'invalid_request');
  expect(documentOf(answer).error_description).toMatch(/^[A-Z].{10,}\.$/);
  expect(await rowsOf(server.database)).toBe(before);
}

function encode(fields: Record<string, string>, name: string, raw: string): string {
  return `${new URLSearchParams(change(fields, { [name]: undefined }))}&${name}=${raw}`;
}

const PROOF = newSecret(); // 43 letters, as a verifier and a challenge have

/** Each with a right request, the parameters that it may have besides, and one that can be long. */
describe.each([
  {
    path: '/oauth/authorize',
    right: requestOf(client),
    more: { instance_name: 'a', state: 'b', code_challenge: PROOF },
    long: 'state',
    lengths: [7_000, 9_000],
    expectRefused: expectPage,
  },
  {
    path: '/oauth/token',
    right: tokenRequestOf(client, 'x'),
    more: { code_verifier: PROOF },
    long: 'code',
    lengths: [9_000],
    expectRefused: expectJson,
  },
])('$path', ({ path, right, more, long, lengths, expectRefused }) => {
  const parameters = Object.keys({ ...right, ...more });

  it.each(parameters)('refuses a duplicate %s [http-badInput-1]', async (name) => {
    const twice = `${new URLSearchParams({ ...more, ...right })}&${name}=x`;
    await expectRefused(await agent.post(path, twice));
  });

  it.each(lengths)('refuses a request of %d bytes, in the body and in the URL', async (length) => {
    const encoded = encode(right, long, 'x'.repeat(length));
    await expectRefused(await agent.post(path, encoded));
    if (path === '/oauth/authorize') await expectRefused(await agent.get(`${path}?${encoded}`));
  });

  it.each<[string, RequestInit & { headers: Record<string, string> }]>([
    ['JSON', { body: '{"client_id":"x","code":"x"}', headers: { 'content-type': 'application/json' } }],
    ['an invalid Content-Type', { body: 'client_id=x', headers: { 'content-type': ';;' } }],
    ['a missing body', { headers: {} }],
  ])('refuses %s', async (_what, init) => {
    await expectRefused(await agent.send(path, { method: 'POST', ...init }));
  });

  it('refuses raw bytes that are not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from(encode(right, long, '')), Buffer.from([0xff, 0xfe])]);
    await expectRefused(await agent.send(path, { method: 'POST', body, headers: { 'content-type': FORM } }));
  });
});

it.each(['scope[a]=b', 'scope.a=b'])('reads no scope from the key %s [http-badInput-2]', async (nested) => {
  const rest = change(requestOf(client), { scope: undefined });
  const answer = await agent.post('/oauth/authorize', `${new URLSearchParams(rest)}&${nested}`);
  await expectPage(answer, 'invalid_scope');
});

it.each(['/oauth/consent', '/oauth/confirm', '/oauth/sign-in', '/oauth/sign-out'])(
  'answers a corrupted form to %s with an error page',
  async (path) => {
    const requests = [{ request: 'client_id=%00' }, { request: 'x'.repeat(20_000) }];
    for (const form of ['request=%FF&login=a&password=b', ...requests])
      await expectPage(await agent.post(path, form));
  },
);

it('answers 408 to a request whose body never ends', async () => {
  const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: 50\r\n\r\n`;
  const { answers } = await converse(server.baseUrl, `${head}grant_type=`);
  expect(answers.map(({ status }) => status)).toEqual([408]);
  expect(answers[0]?.body).toMatch(/"error":"invalid_request".+took too long to arrive\./);
});

describe('a request with too many parameters', () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `x${index}=`).join('&');

  it.each([
    ...['/oauth/consent', '/oauth/confirm', '/oauth/sign-in', '/oauth/sign-out', '/oauth/language'],
    ...['disconnect', 'stop', 'warnings', 'password'].map((form) => `/oauth/account/${form}`),
  ])('is refused at %s [http-badInput-3]', async (path) => {
    await expectPage(await agent.post(path, fields(path === '/oauth/consent' ? 265 : 65)));
  });

  it.each(['/oauth/token', '/oauth/introspect', '/oauth/revoke', '/api/revoke'])(
    'is refused at %s, with a description',
    async (path) => {
      const answer = await agent.post(path, fields(65));
      expectTokenError(answer, 'invalid_request');
      expect(documentOf(answer).error_description).toBe('The request has more than 64 parameters.');
      expect((await agent.post(path, fields(64))).body).not.toContain('64');
    },
  );

  it('is refused as an authorization request, by POST and by GET; one parameter fewer is accepted', async () => {
    const known = requestOf(client);
    const sent = (count: number) =>
      `${new URLSearchParams(known)}&${fields(count - Object.keys(known).length)}`;
    await expectPage(await agent.post('/oauth/authorize', sent(65)));
    await expectPage(await agent.get(`/oauth/authorize?${sent(65)}`));
    await expectPage(await agent.post(`/oauth/authorize?${fields(65)}`, known));
    await expectPage(await agent.post('/oauth/consent', { request: sent(65) }));
    expect((await agent.post('/oauth/authorize', sent(64))).status).toBe(303);
    expect((await agent.get(`/oauth/authorize?${sent(64)}`)).status).toBe(200);
  });
});
