import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { obtainCode, requestOf, tokenRequestOf } from '../support/flow.ts';
import { converse } from '../support/rawHttp.ts';
import { useServer } from '../support/server.ts';

// Where two readers of one connection could part ways: each request gets one answer, in its turn.

const server = await useServer();

const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const READY = 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n';
const NEXT = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

async function exchange(lines = ''): Promise<string> {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const code = await obtainCode(new Agent(server.baseUrl), requestOf(client), user);
  const body = new URLSearchParams(tokenRequestOf(client, code)).toString();
  return `POST /oauth/token HTTP/1.1\r\nHost: x\r\n${FORM}${lines}Content-Length: ${body.length}\r\n\r\n${body}`;
}

describe('what is not HTTP behind a request', () => {
  it.each([['in the same packet'], ['in the next packet']])(
    'does not take the place of its answer: %s',
    async (where) => {
      const right = await exchange();
      const pieces = where === 'in the same packet' ? [`${right}&garbage`] : [right, '&garbage'];
      const { answers } = await converse(server.baseUrl, pieces);
      expect(answers).toMatchObject([
        { status: 200, body: /"access_token":/ },
        { status: 400, body: /This request can’t be read/ },
      ]);
    },
  );

  it('does not take the place of the last answer of a connection', async () => {
    const { answers } = await converse(server.baseUrl, (await exchange('Connection: close\r\n')) + READY);
    expect(answers).toMatchObject([{ status: 200, body: /"access_token":/ }]);
  });

  it('does not take the place of several answers', async () => {
    const { answers } = await converse(server.baseUrl, `${READY.repeat(3)}garbage\r\n\r\n`);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400]);
  });

  it('in the body of the second of two comes after the answer to the first', async () => {
    const bad = `POST /oauth/token HTTP/1.1\r\nHost: x\r\n${FORM}Transfer-Encoding: chunked\r\n\r\nz\r\n`;
    const { answers } = await converse(server.baseUrl, READY + bad);
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
  });
});

describe('a request that was answered before all of its body came', () => {
  it.each([
    ['no such address', 'POST /nothing'],
    ['no such method', 'PUT /oauth/token'],
  ])('gets no second answer: %s', async (_what, line) => {
    const head = (lines: string) => `${line} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`;
    const cutOff = await converse(server.baseUrl, [head('Content-Length: 500\r\n'), 'a=b'], { hangUp: true });
    expect(cutOff.answers).toHaveLength(1);
    const broken = await converse(server.baseUrl, [head('Transfer-Encoding: chunked\r\n'), 'z\r\n']);
    expect(broken.answers).toHaveLength(1);
  });
});

describe('a request that wishes for another protocol', () => {
  it('does not swallow the request behind it: that one is answered, or the connection ends', async () => {
    const wish = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n';
    const { answers } = await converse(server.baseUrl, wish + NEXT);
    expect(answers[0]?.status).toBe(200);
    if (answers.length === 1) expect(answers[0]?.headers.get('connection')).toEqual(['close']);
  }, 10_000);
});

describe('smaller things', () => {
  it.each(['evil.example:443', '/account'])('CONNECT %s is answered and not just dropped', async (target) => {
    const { answers } = await converse(server.baseUrl, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answers).toHaveLength(1);
    expect([400, 405]).toContain(answers[0]?.status);
  });

  it.each([
    'http://localhost/oauth/token',
    'HTTP://evil.example/oauth/token',
    '/oauth/tok%65n',
    '/oauth/token#x',
  ])('a wrong method gets 405 and JSON however the address is written: %s', async (target) => {
    const bytes = `PUT ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const { answers } = await converse(server.baseUrl, bytes);
    expect(answers).toMatchObject([{ status: 405, body: /"error":"invalid_request"/ }]);
    expect(answers[0]?.headers.get('allow')).toEqual(['POST']);
  });

  it('two hosts are refused (RFC 9112 section 3.2)', async () => {
    const bytes = 'GET /health/live HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n';
    const { answers } = await converse(server.baseUrl, bytes);
    expect(answers).toMatchObject([{ status: 400 }]);
    expect(answers[0]?.headers.get('x-request-id'), 'by which `assent explain` knows it').toHaveLength(1);
  });

  it('chunks in HTTP/1.0 end the connection (RFC 9112 section 6.1)', async () => {
    const head = 'POST /oauth/token HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { answers } = await converse(server.baseUrl, `${head}0\r\n\r\n${NEXT}`);
    expect(answers).toHaveLength(1);
  });
});
