import { describe, expect, it } from 'vitest';
import { requestOf, tokenRequestOf } from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { converse } from '../../support/http/rawHttp.ts';
import { newSecret } from '../../support/ledger.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();

const client = await server.createClient();
const agent = new Agent(server.baseUrl);

const FORM = 'application/x-www-form-urlencoded';

/** Nothing here may change anything. */
const before = await rowsOf(server.database);

async function expectErrorPage(answer: Answer, code: string): Promise<void> {
  expect(answer.status).toBe(400);
  expect(answer.page).toBe('error');
  expect(answer.text).toContain(code);
  expect(answer.location).toBeNull();
  expect(answer.body).not.toMatch(/node_modules|\.ts:\d/);
  expect(await rowsOf(server.database)).toBe(before);
}

async function expectJson(answer: Answer, error: string): Promise<void> {
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  expect(body.error).toBe(error);
  expect(body.error_description).toMatch(/^[A-Z].{10,}\.$/);
  expect(body).not.toHaveProperty('access_token');
  expect(await rowsOf(server.database)).toBe(before);
}

function encode(fields: Record<string, string>, name: string, raw: string): string {
  const { [name]: _replaced, ...rest } = fields;
  return `${new URLSearchParams(rest)}&${name}=${raw}`;
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
    expectRefused: expectErrorPage,
  },
  {
    path: '/oauth/token',
    right: tokenRequestOf(client, 'x'),
    more: { code_verifier: PROOF },
    long: 'code',
    lengths: [9_000],
    expectRefused: expectJson,
  },
])('bad input at $path', ({ path, right, more, long, lengths, expectRefused }) => {
  const parameters = Object.keys({ ...right, ...more });

  async function expectEncodedRefused(encoded: string, code = 'invalid_request'): Promise<void> {
    await expectRefused(await agent.post(path, encoded), code);
    if (path === '/oauth/authorize') await expectRefused(await agent.get(`${path}?${encoded}`), code);
  }

  it.each(parameters)('refuses a duplicate %s', async (name) => {
    const twice = `${new URLSearchParams({ ...more, ...right })}&${name}=x`;
    await expectRefused(await agent.post(path, twice), 'invalid_request');
  });

  it.each(lengths)('refuses a request of %d bytes, in the body and in the URL', async (length) => {
    await expectEncodedRefused(encode(right, long, 'x'.repeat(length)));
  });

  it.each<[string, RequestInit & { headers: Record<string, string> }]>([
    ['of JSON', { body: '{"client_id":"x","code":"x"}', headers: { 'content-type': 'application/json' } }],
    ['of an unreadable type', { body: 'client_id=x', headers: { 'content-type': ';;' } }],
    ['that is not there', { headers: {} }],
  ])('refuses a body %s', async (_what, init) => {
    await expectRefused(await agent.send(path, { method: 'POST', ...init }), 'invalid_request');
  });

  it('refuses raw bytes that are not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from(encode(right, long, '')), Buffer.from([0xff, 0xfe])]);
    const init = { method: 'POST', body, headers: { 'content-type': FORM } };
    await expectRefused(await agent.send(path, init), 'invalid_request');
  });
});

it.each(['scope[a]=b', 'scope.a=b'])('does not read the nested key %s as scope', async (nested) => {
  const { scope: _left, ...rest } = requestOf(client);
  const answer = await agent.post('/oauth/authorize', `${new URLSearchParams(rest)}&${nested}`);
  await expectErrorPage(answer, 'invalid_scope');
});

describe('bad input at other endpoints', () => {
  it.each([
    ['PUT', '/oauth/token', 405],
    ['PATCH', '/consent', 405],
    ['POST', '/nothing', 404],
    ['POST', '/*/*/:x-:y(', 404],
  ])('answers %s %s in the same way whatever its body', async (method, path, status) => {
    const bodies = ['{}', 'a=b', 'x'.repeat(100_000)];
    for (const type of [FORM, 'application/json', ';;']) {
      for (const body of bodies) {
        const answer = await agent.send(path, { method, body, headers: { 'content-type': type } });
        expect(answer.status).toBe(status);
        expect(answer.body).not.toContain('FST_');
      }
    }
  });

  it.each(['/consent', '/confirm', '/sign-in', '/sign-out'])(
    'answers a corrupted form to %s with an error page',
    async (path) => {
      await expectErrorPage(await agent.post(path, 'request=%FF&login=a&password=b'), 'invalid_request');
      await expectErrorPage(await agent.post(path, { request: 'client_id=%00' }), 'invalid_request');
      await expectErrorPage(await agent.post(path, { request: 'x'.repeat(20_000) }), 'invalid_request');
    },
  );
});

it('ends a request whose body never ends, without an error in the log', async () => {
  const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM}\r\nContent-Length: 50\r\n\r\n`;
  const { answers } = await converse(server.baseUrl, `${head}grant_type=`);
  expect(answers).toMatchObject([{ status: 408, body: /It took too long to arrive\./ }]);
});

describe('a request with too many parameters', () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `x${index}=`).join('&');
  const forms = ['/consent', '/confirm', '/sign-in', '/sign-out', '/language'];
  const more = ['/account/disconnect', '/account/stop', '/account/warnings', '/account/password'];

  it.each([...forms, ...more])('is refused at %s', async (path) => {
    await expectErrorPage(await agent.post(path, fields(path === '/consent' ? 265 : 65)), 'invalid_request');
  });

  it.each(['/oauth/token', '/oauth/introspect', '/oauth/revoke', '/api/revoke'])(
    'is refused at %s, with a description',
    async (path) => {
      const answer = await agent.post(path, fields(65));
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        { error: 'invalid_request', error_description: 'The request has more than 64 parameters.' },
      ]);
      expect((await agent.post(path, fields(64))).body).not.toContain('64');
    },
  );

  it('is refused as an authorization request, by POST and by GET; 64 parameters are accepted', async () => {
    const known = requestOf(client);
    const sent = (count: number) =>
      `${new URLSearchParams(known)}&${fields(count - Object.keys(known).length)}`;
    await expectErrorPage(await agent.post('/oauth/authorize', sent(65)), 'invalid_request');
    await expectErrorPage(await agent.get(`/oauth/authorize?${sent(65)}`), 'invalid_request');
    await expectErrorPage(await agent.post(`/oauth/authorize?${fields(65)}`, known), 'invalid_request');
    await expectErrorPage(await agent.post('/consent', { request: sent(65) }), 'invalid_request');
    expect((await agent.post('/oauth/authorize', sent(64))).status).toBe(303);
    expect((await agent.get(`/oauth/authorize?${sent(64)}`)).status).toBe(200);
  });
});
