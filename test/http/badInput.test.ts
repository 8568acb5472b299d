import { describe, expect, it } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { requestOf, tokenRequestOf } from '../support/flow.ts';
import { converse } from '../support/rawHttp.ts';
import { useServer } from '../support/server.ts';

const server = await useServer();

const client = await server.createClient();
const agent = new Agent(server.baseUrl);

const FORM = 'application/x-www-form-urlencoded';

/** What can be done to the value of a parameter, as it goes over the wire. */
const SPOILED: Record<string, string> = {
  'percent without digits': '%ZZ',
  'cut-off percent': 'a%',
  'a byte that is not UTF-8': '%FF',
  'an overlong encoding': '%C0%AF',
  'a lone surrogate': '%ED%A0%80',
  NUL: 'a%00b',
};

/** Everything that was ever written: nothing here may change it. */
async function rowCount(): Promise<number> {
  const { rows } = await server.database.pool.query<{ count: number }>(
    `select ((select count(*) from grants) + (select count(*) from audit_events where operator is null) + (select count(*) from sessions))::int as count`,
  );
  return rows[0]?.count ?? -1;
}

async function expectErrorPage(answer: Answer, code: string): Promise<void> {
  expect(answer.status).toBe(400);
  expect(answer.page).toBe('error');
  expect(answer.text).toContain(code);
  expect(answer.location).toBeNull();
  expect(answer.body).not.toMatch(/node_modules|\.ts:\d/);
  expect(await rowCount()).toBe(0);
}

async function expectJson(answer: Answer, error: string): Promise<void> {
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toBe('application/json');
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  expect(body.error).toBe(error);
  expect(body.error_description).toMatch(/^[A-Z].{10,}\.$/);
  expect(body).not.toHaveProperty('access_token');
  expect(await rowCount()).toBe(0);
}

function encode(fields: Record<string, string>, name: string, raw: string): string {
  const { [name]: _replaced, ...rest } = fields;
  return `${new URLSearchParams(rest)}&${name}=${raw}`;
}

const LETTERS = 'A'.repeat(43);

/** Each with a right request, the parameters that it may have besides, and one that can be long. */
describe.each([
  {
    path: '/oauth/authorize',
    right: requestOf(client),
    more: { instance_name: 'a', state: 'b', code_challenge: LETTERS },
    long: 'state',
    lengths: [7_000, 9_000, 20_000, 100_000],
    expectRefused: expectErrorPage,
  },
  {
    path: '/oauth/token',
    right: tokenRequestOf(client, 'x'),
    more: { code_verifier: LETTERS },
    long: 'code',
    lengths: [9_000],
    expectRefused: expectJson,
  },
])('bad input at $path', ({ path, right, more, long, lengths, expectRefused }) => {
  const parameters = Object.keys({ ...right, ...more });
  const cases = parameters.flatMap((name) => Object.keys(SPOILED).map((what) => [name, what] as const));

  async function expectEncodedRefused(encoded: string, code = 'invalid_request'): Promise<void> {
    await expectRefused(await agent.post(path, encoded), code);
    if (path === '/oauth/authorize') await expectRefused(await agent.get(`${path}?${encoded}`), code);
  }

  it.each(cases)('refuses a %s with %s, posted and in the URL', async (name, what) => {
    const encoded = encode(right, name, SPOILED[what] ?? '');
    await expectEncodedRefused(encoded, name === 'scope' ? 'invalid_scope' : 'invalid_request');
  });

  it.each(parameters)('refuses a %s that was sent twice', async (name) => {
    const twice = `${new URLSearchParams({ ...more, ...right })}&${name}=x`;
    await expectRefused(await agent.post(path, twice), 'invalid_request');
  });

  it.each(lengths)('refuses a request of %d bytes, posted and in the URL', async (length) => {
    await expectEncodedRefused(encode(right, long, 'x'.repeat(length)));
  });

  it.each([
    ['JSON', 'application/json', '{"client_id":"x","code":"x"}'],
    [
      'multipart',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="client_id"\r\n\r\nx\r\n--b--\r\n',
    ],
    ['text', 'text/plain', 'client_id=x'],
    ['an unreadable type', ';;', 'client_id=x'],
  ])('refuses a body of %s', async (_what, type, body) => {
    const init = { method: 'POST', body, headers: { 'content-type': type } };
    await expectRefused(await agent.send(path, init), 'invalid_request');
  });

  it('refuses a post without a body', async () => {
    await expectRefused(await agent.send(path, { method: 'POST', headers: {} }), 'invalid_request');
  });

  it('refuses raw bytes that are not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from(encode(right, long, '')), Buffer.from([0xff, 0xfe])]);
    const init = { method: 'POST', body, headers: { 'content-type': FORM } };
    await expectRefused(await agent.send(path, init), 'invalid_request');
  });
});

describe('bad input at /oauth/authorize', () => {
  it.each(['scope[a]=b', 'scope[]=account-info', 'scope.a=b'])(
    'takes the nested key %s for no scope at all',
    async (nested) => {
      const { scope: _left, ...rest } = requestOf(client);
      await expectErrorPage(
        await agent.post('/oauth/authorize', `${new URLSearchParams(rest)}&${nested}`),
        'invalid_scope',
      );
    },
  );
});

describe('bad input elsewhere', () => {
  it.each([
    ['PUT', '/oauth/token', 405],
    ['DELETE', '/oauth/authorize', 405],
    ['PATCH', '/consent', 405],
    ['POST', '/health/ready', 405],
    ['POST', '/nothing', 404],
    ['POST', '/:a(', 404],
    ['POST', '/*/*/:x-:y(', 404],
  ])('answers %s %s the same whatever its body', async (method, path, status) => {
    const bodies = ['{}', 'a=b', 'x'.repeat(100_000)];
    for (const type of [FORM, 'application/json', 'multipart/form-data; boundary=b', ';;']) {
      for (const body of bodies) {
        const answer = await agent.send(path, { method, body, headers: { 'content-type': type } });
        expect(answer.status).toBe(status);
        expect(answer.body).not.toContain('FST_');
      }
    }
  });

  it('answers a program in JSON however it spells the path', async () => {
    const answer = await agent.post('/oauth/tok%65n', tokenRequestOf(client, 'x'));
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'invalid_grant' });
  });

  it.each(['/consent', '/payment-password', '/sign-in', '/sign-out'])(
    'answers a spoiled form to %s with an error page',
    async (path) => {
      await expectErrorPage(await agent.post(path, 'request=%FF&login=a&password=b'), 'invalid_request');
      await expectErrorPage(await agent.post(path, { request: 'client_id=%00' }), 'invalid_request');
      await expectErrorPage(await agent.post(path, { request: 'x'.repeat(20_000) }), 'invalid_request');
    },
  );
});

const HEADERS =
  'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

describe('a request that never ends', () => {
  it('is ended by the server, calmly, whether its headers or its body are missing', {
    timeout: 60_000,
  }, async () => {
    const unfinished = [
      'GET /account HTTP/1.1\r\nHost: local',
      HEADERS,
      `${HEADERS}Content-Length: 50\r\n\r\ngrant_type=`,
    ];
    for (const { answers } of await Promise.all(unfinished.map((bytes) => converse(server.baseUrl, bytes))))
      expect(answers).toMatchObject([{ status: 408, body: /It took too long to arrive\./ }]);
  });
});

describe('a request of more parameters than anything needs', () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `x${index}=`).join('&');
  const forms = ['/consent', '/reject', '/payment-password', '/sign-in', '/sign-out', '/language'];
  const more = ['/account/disconnect', '/account/stop', '/account/warnings', '/account/password'];

  it.each([...forms, ...more])('is refused at %s', async (path) => {
    await expectErrorPage(await agent.post(path, fields(path === '/consent' ? 265 : 65)), 'invalid_request');
  });

  it.each(['/oauth/token', '/oauth/introspect', '/oauth/revoke', '/api/revoke'])(
    'is refused at %s, in words',
    async (path) => {
      const answer = await agent.post(path, fields(65));
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        { error: 'invalid_request', error_description: 'The request has more than 64 parameters.' },
      ]);
      expect((await agent.post(path, fields(64))).body).not.toContain('64');
    },
  );

  it('is refused as an authorization request, by POST and by GET; with 64 it is taken', async () => {
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
