import { expect, it } from 'vitest';
import { converse } from '../../support/http/rawHttp.ts';
import { prepareSamples, ROUTES } from '../../support/http/samples.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { expectSound } from '../../support/sound.ts';

const server = await useServer();

const samples = await prepareSamples(server);

const pathOf = (route: string) => route.split(' ')[1] ?? '';

function allowedAt(path: string): string[] {
  const methods = ROUTES.filter((route) => pathOf(route) === path).map((route) => route.split(' ')[0] ?? '');
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).toSorted();
}

const METHODS = ['DELETE', 'GET', 'HEAD', 'M-SEARCH', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'];
const BODY = 'request=echo-this&token=echo-this';
const HEADERS = `Host: localhost\r\nCookie: echo=echo-this\r\nX-Echo: echo-this\r\nContent-Length: ${BODY.length}\r\n`;

it.each([...new Set(ROUTES.map(pathOf))])(
  'an unsupported method gets 405 with Allow, without an echo of the request: %s',
  async (path) => {
    const allowed = allowedAt(path);
    const reader = samples[ROUTES.find((route) => pathOf(route) === path) ?? 'GET /'].reader;
    const rows = await rowsOf(server.database);
    for (const method of METHODS.filter((other) => !allowed.includes(other))) {
      const bytes = `${method} ${path}?state=echo-this HTTP/1.1\r\n${HEADERS}Connection: close\r\n\r\n${BODY}`;
      const { answers } = await converse(server.baseUrl, bytes, { methods: [method] });
      expect(answers, method).toMatchObject([{ status: 405 }]);
      for (const answer of answers) {
        expect(answer.headers.get('allow')).toEqual([allowed.join(', ')]);
        expect(JSON.stringify([...answer.headers, answer.body])).not.toContain('echo-this');
        if (method !== 'HEAD') expectSound(server, answer, reader);
      }
    }
    expect(await rowsOf(server.database)).toBe(rows);
  },
);

it.each(ROUTES.filter((route) => route.startsWith('GET ')))(
  'HEAD is answered like %s, without a body',
  async (route) => {
    const path = pathOf(route);
    const heads = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\nHEAD ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const { answers } = await converse(server.baseUrl, heads, { methods: ['GET', 'HEAD'] });
    const [full, head] = answers;
    expect(head?.status).toBe(full?.status);
    const names = [...(full?.headers.keys() ?? [])].filter((name) => name !== 'keep-alive');
    expect([...(head?.headers.keys() ?? [])]).toEqual(names);
  },
);
