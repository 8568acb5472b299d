import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { requestOf, tokenRequestOf } from '../support/flow.ts';
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

async function expectErrorPage(answer: Awaited<ReturnType<Agent['get']>>, code: string): Promise<void> {
  expect(answer.status).toBe(400);
  expect(answer.page).toBe('error');
  expect(answer.text).toContain(code);
  expect(answer.location).toBeNull();
  expect(answer.body).not.toMatch(/node_modules|\.ts:\d/);
  expect(await rowCount()).toBe(0);
}

function encode(fields: Record<string, string>, name: string, raw: string): string {
  const { [name]: _replaced, ...rest } = fields;
  return `${new URLSearchParams(rest)}&${name}=${raw}`;
}

describe('bad input at /oauth/authorize', () => {
  const parameters = [
    'client_id',
    'response_type',
    'redirect_uri',
    'scope',
    'instance_name',
    'state',
    'code_challenge',
  ];
  const cases = parameters.flatMap((name) => Object.keys(SPOILED).map((what) => [name, what] as const));

  it.each(cases)('refuses a %s with %s, posted and in the URL', async (name, what) => {
    const encoded = encode(requestOf(client), name, SPOILED[what] ?? '');
    const code = name === 'scope' ? 'invalid_scope' : 'invalid_request';
    await expectErrorPage(await agent.post('/oauth/authorize', encoded), code);
    await expectErrorPage(await agent.get(`/oauth/authorize?${encoded}`), code);
  });

  it.each(parameters)('refuses a %s that was sent twice', async (name) => {
    const fields = { instance_name: 'a', state: 'b', code_challenge: 'c', ...requestOf(client) };
    await expectErrorPage(
      await agent.post('/oauth/authorize', `${new URLSearchParams(fields)}&${name}=x`),
      'invalid_request',
    );
  });

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

  it.each([7_000, 9_000, 20_000, 100_000])(
    'refuses a request of %d bytes, posted and in the URL',
    async (length) => {
      const encoded = encode(requestOf(client), 'state', 'x'.repeat(length));
      await expectErrorPage(await agent.post('/oauth/authorize', encoded), 'invalid_request');
      await expectErrorPage(await agent.get(`/oauth/authorize?${encoded}`), 'invalid_request');
    },
  );

  it('refuses raw bytes that are not UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from(`${new URLSearchParams(requestOf(client))}&state=`),
      Buffer.from([0xff, 0xfe]),
    ]);
    const answer = await agent.send('/oauth/authorize', {
      method: 'POST',
      body,
      headers: { 'content-type': FORM },
    });
    await expectErrorPage(answer, 'invalid_request');
  });

  it.each([
    ['JSON', 'application/json', '{"client_id":"x"}'],
    [
      'multipart',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="client_id"\r\n\r\nx\r\n--b--\r\n',
    ],
    ['text', 'text/plain', 'client_id=x'],
    ['an unreadable type', ';;', 'client_id=x'],
  ])('refuses a body of %s', async (_what, type, body) => {
    const answer = await agent.send('/oauth/authorize', {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    });
    await expectErrorPage(answer, 'invalid_request');
  });

  it('refuses a post without a body', async () => {
    await expectErrorPage(
      await agent.send('/oauth/authorize', { method: 'POST', headers: {} }),
      'invalid_request',
    );
  });

  it('never redirects to an address that is not registered', async () => {
    for (const redirect_uri of [
      'https://evil.example/',
      '//evil.example',
      'javascript:alert(1)',
      `${client.redirectUri}.evil.example`,
    ]) {
      await expectErrorPage(
        await agent.post('/oauth/authorize', requestOf(client, { redirect_uri })),
        'invalid_request',
      );
    }
  });
});

describe('bad input at /oauth/token', () => {
  async function expectJson(answer: Awaited<ReturnType<Agent['get']>>, error: string): Promise<void> {
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    expect(body.error).toBe(error);
    expect(body.error_description).toMatch(/^[A-Z].{10,}\.$/);
    expect(body).not.toHaveProperty('access_token');
    expect(await rowCount()).toBe(0);
  }

  const parameters = ['code', 'client_id', 'grant_type', 'redirect_uri', 'client_secret', 'code_verifier'];
  const cases = parameters.flatMap((name) => Object.keys(SPOILED).map((what) => [name, what] as const));

  it.each(cases)('refuses a %s with %s', async (name, what) => {
    const encoded = encode(tokenRequestOf(client, 'x'), name, SPOILED[what] ?? '');
    await expectJson(await agent.post('/oauth/token', encoded), 'invalid_request');
  });

  it.each(parameters)('refuses a %s that was sent twice', async (name) => {
    const fields = { code_verifier: 'x', ...tokenRequestOf(client, 'x') };
    await expectJson(
      await agent.post('/oauth/token', `${new URLSearchParams(fields)}&${name}=x`),
      'invalid_request',
    );
  });

  it.each([
    ['JSON', 'application/json', '{"code":"x"}'],
    ['multipart', 'multipart/form-data; boundary=b', '--b--'],
    ['an unreadable type', ';;', 'code=x'],
  ])('refuses a body of %s', async (_what, type, body) => {
    await expectJson(
      await agent.send('/oauth/token', { method: 'POST', body, headers: { 'content-type': type } }),
      'invalid_request',
    );
  });

  it('refuses a post without a body, and one that is too long', async () => {
    await expectJson(await agent.send('/oauth/token', { method: 'POST', headers: {} }), 'invalid_request');
    await expectJson(
      await agent.post('/oauth/token', tokenRequestOf(client, 'x'.repeat(9_000))),
      'invalid_request',
    );
  });

  it.each(['x', 'assent_ac_', `assent_ac_${'A'.repeat(64)}`, `assent_at_${'A'.repeat(64)}`, '‮ä'])(
    'refuses the code %s as invalid_grant',
    async (code) => {
      await expectJson(await agent.post('/oauth/token', tokenRequestOf(client, code)), 'invalid_grant');
    },
  );
});

describe('bad input elsewhere', () => {
  it.each([
    ['PUT', '/oauth/authorize', 'GET, HEAD, POST'],
    ['PROPFIND', '/oauth/authorize', 'GET, HEAD, POST'],
    ['GET', '/oauth/token', 'POST'],
    ['DELETE', '/oauth/token', 'POST'],
    ['GET', '/consent', 'POST'],
    ['POST', '/account', 'GET, HEAD'],
  ])('answers %s %s with 405 and what it allows', async (method, path, allow) => {
    const answer = await agent.send(path, { method, headers: {} });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });

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

  it.each([
    '/nothing',
    '/%zz',
    '/account%3Fx=1',
    '/oauth/authorize%3Fclient_id=x',
    '/oauth/authorize/',
    '/..%2f..%2fetc/passwd',
  ])('answers %s with a 404 page', async (path) => {
    const answer = await agent.get(path);
    expect(answer.status).toBe(404);
    expect(answer.page).toBe('error');
  });

  it('answers a program in JSON however it spells the path', async () => {
    const answer = await agent.post('/oauth/tok%65n', tokenRequestOf(client, 'x'));
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'invalid_grant' });
  });

  it('answers what is not HTTP with a page and closes the connection', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(server.baseUrl).port), 'localhost', () =>
        socket.end('not http at all\r\n\r\n'),
      );
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      socket.on('end', () => resolve(text)).on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('invalid_request');
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

/** Says `text` and nothing more. @returns all that comes until the server ends the connection */
function sayAndWait(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(server.baseUrl).port), 'localhost');
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.once('close', () => resolve(answer));
    socket.once('error', reject);
    socket.write(text);
  });
}

const HEADERS =
  'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

describe('a request that never ends', () => {
  it('is ended by the server, calmly, whether its headers or its body are missing', {
    timeout: 60_000,
  }, async () => {
    const answers = await Promise.all([
      sayAndWait('GET /account HTTP/1.1\r\nHost: local'),
      sayAndWait(HEADERS),
      sayAndWait(`${HEADERS}Content-Length: 50\r\n\r\ngrant_type=`),
    ]);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
      expect(answer).toContain('It took too long to arrive.');
    }
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
