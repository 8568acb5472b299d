import { beforeEach, describe, expect, it } from 'vitest';
import { obtainCode, requestOf, tokenRequestOf } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { converse, type Manner } from '../../support/http/rawHttp.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

// Requests whose end a proxy and a server could understand differently. Each connection carries a spoiled request, maybe
// with another one hidden in it, and then an honest one.

const server = await useServer();
let logged: number;

beforeEach(() => {
  logged = server.logLines.length;
});

interface Line {
  readonly msg: string;
  readonly path: string;
  readonly rule?: string;
}

const lines = () => {
  const all = server.logLines.slice(logged).map((line) => JSON.parse(line) as Line);
  return all.filter(({ msg }) => msg === 'request');
};

/** The sorted paths of the requests that were read in this test; `-` for an unreadable one. */
const asked = () =>
  lines()
    .map(({ path, rule }) => (rule?.startsWith('unreadable HTTP: ') ? '-' : path))
    .toSorted();

const HIDDEN = 'GET /oauth/sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n';
const NEXT = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

function post(lines: string, body = ''): string {
  return `POST /oauth/token HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n${body}`;
}

function get(lines: string, target = '/health/live', version = 'HTTP/1.1'): string {
  return `GET ${target} ${version}\r\nHost: localhost\r\n${lines}\r\n`;
}

const UNREADABLE =
  /This request can’t be read|The request is not valid HTTP|The headers of the request are too/;

/** Sends bytes, and expects a single answer. @returns the header of this name */
async function expectOne(bytes: string, status: number, said: RegExp) {
  const { answers, interim } = await converse(server.baseUrl, bytes);
  expect(answers.map((answer) => answer.status)).toEqual([status]);
  expect(answers[0]?.body).toMatch(said);
  return { interim, header: (name: string) => answers[0]?.headers.get(name) };
}

const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const chunked = (body: string) => post('Transfer-Encoding: chunked\r\n', body);
const END = '0\r\n\r\n';

it.each([
  ['Content-Length + chunks', post(`Content-Length: ${END.length}\r\nTransfer-Encoding: chunked\r\n`, END)],
  [
    'Content-Length and chunks, with a request hidden after the last chunk',
    post(`Transfer-Encoding: chunked\r\nContent-Length: ${END.length + HIDDEN.length}\r\n`, END + HIDDEN),
  ],
  ['two different Content-Length headers', post('Content-Length: 0\r\nContent-Length: 42\r\n', HIDDEN)],
  ['two equal Content-Length headers', post('Content-Length: 3\r\nContent-Length: 3\r\n', 'a=b')],
  ['a list in Content-Length', post('Content-Length: 3, 3\r\n', 'a=b')],
  ['a Content-Length beyond 64 bits', post('Content-Length: 18446744073709551619\r\n', 'a=b')],
  ['an unknown Transfer-Encoding', post('Transfer-Encoding: xchunked\r\n', END)],
  ['an encoding after chunked', post('Transfer-Encoding: chunked, identity\r\n', END)],
  ['two Transfer-Encodings', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', END)],
  ['a vertical tab before the encoding', post('Transfer-Encoding: \x0bchunked\r\n', END)],
  ['a space before the colon of a header', post('Transfer-Encoding : chunked\r\n', END)],
  ['a folded header', post('X: a\r\n Content-Length: 42\r\nContent-Length: 0\r\n')],
  ['a header without a colon', post('Content-Length\r\n')],
  ['a bare LF after a header', post('X: a\nContent-Length: 42\r\n')],
  ['a bare CR in a header value', post('X: a\rContent-Length: 42\r\n')],
  ['bare LF line endings', 'POST /oauth/token HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n'],
  ['a NUL in a header value', get('X: a\0b\r\n')],
  ['a chunk size that isn’t hexadecimal', chunked(`z\r\na=b\r\n${END}`)],
  ['a chunk size beyond 64 bits', chunked(`10000000000000003\r\na=b\r\n${END}`)],
  ['a space before the chunk size', chunked(` 3\r\na=b\r\n${END}`)],
  ['a chunk shorter than its size', chunked(`4\r\na=b\r\n${END}`)],
  ['a chunk longer than its size', chunked(`3\r\na=b&c=d\r\n${END}`)],
  ['chunks with bare LF line endings', chunked('3\na=b\n0\n\n')],
  ['a bare LF in a chunk extension', chunked(`3;\nx\r\na=b\r\n${END}`)],
  ['a chunk extension of 20,000 bytes', chunked(`3;${'x'.repeat(20_000)}\r\na=b\r\n${END}`)],
  ['a Content-Length in the trailers', chunked('3\r\na=b\r\n0\r\nContent-Length: 42\r\n\r\n')],
  ['a malformed trailer', chunked('3\r\na=b\r\n0\r\nGET /hidden HTTP/1.1\r\n\r\n')],
  ...['FOO', 'get', '', 'GET\0'].map((method) => [`method “${method}”`, get('').replace('GET', method)]),
  ['a lower-case HTTP version', get('', '/health/live', 'http/1.1')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a space in the request target', get('', '/health/live /hidden')],
  ['non-ASCII bytes in the request target', get('', '/health/l\xc3\xafve')],
  ['an empty request target', get('', '')],
  ['a header of 33,000 bytes', get(`X: ${'x'.repeat(33_000)}\r\n`)],
  ['a request target of 33,000 bytes', get('', `/health/live?${'x'.repeat(33_000)}`)],
])(
  'a request with ambiguous framing is refused, and no bytes after it are read: %s [smuggling-1]',
  async (_what, bytes) => {
    const { header } = await expectOne(bytes + NEXT, 400, UNREADABLE);
    expect(header('connection')).toEqual(['close']);
    expect(asked()).toEqual(['-']);
  },
);

const JSON_TYPE = 'application/json';
const PAGE = 'text/html; charset=utf-8';
const length = 'Host: x\r\nContent-Length: x\r\n\r\n';

it.each<[what: string, bytes: string | string[], type: string, path: string]>([
  ['a bad Content-Length', `POST /oauth/token HTTP/1.1\r\n${length}`, JSON_TYPE, '/oauth/token'],
  ['the same with a query', `POST /oauth/revoke?a=b HTTP/1.1\r\n${length}`, JSON_TYPE, '/oauth/revoke'],
  ['the same at a JSON path', `POST /api/revoke/x HTTP/1.1\r\n${length}`, JSON_TYPE, '(unknown path)'],
  ['the same at a page', `POST /oauth/consent HTTP/1.1\r\n${length}`, PAGE, '/oauth/consent'],
  ['no Host', 'POST /oauth/introspect HTTP/1.1\r\n\r\n', JSON_TYPE, '/oauth/introspect'],
  ['no Host at a page', 'GET /oauth/account HTTP/1.1\r\n\r\n', PAGE, '/oauth/account'],
  ['a bad chunk in another packet', [chunked('3\r\na=b\r\n'), 'z\r\n'], JSON_TYPE, '/oauth/token'],
  ['a bad escape in the path', get('Connection: close\r\n', '/oauth/token/%zz'), JSON_TYPE, '(unknown path)'],
  ['no request line', 'hello\r\n\r\n', PAGE, '(unknown path)'],
  ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n', PAGE, '(unknown path)'],
])(
  'an unreadable request has a line in the log, and an answer in the format of its path: %s',
  async (_what, bytes, type, path) => {
    const { answers } = await converse(server.baseUrl, bytes);
    const status = path === '(unknown path)' && type === JSON_TYPE && bytes.includes('%zz') ? 404 : 400;
    expect(answers).toMatchObject([{ status }]);
    const [{ headers, body } = {}] = answers;
    expect(headers?.get('content-type')).toEqual([type]);
    expect(headers?.get('cache-control')).toEqual(['no-store']);
    if (type === JSON_TYPE)
      expect(Object.keys(JSON.parse(body ?? ''))).toEqual(['error', 'error_description']);
    expect(lines()).toMatchObject([{ path, status }]);
    expect(headers?.get('x-request-id')).toEqual([JSON.parse(server.logLines.at(-1) ?? '').ref]);
  },
);

describe('a body with a Content-Encoding', () => {
  const encoded = (path: string, encoding: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${FORM}Content-Encoding: ${encoding}\r\nContent-Length: 3000\r\n\r\n`;

  const REFUSED = /"error":"invalid_request","error_description":"Send the body without Content-Enc/;

  it.each([
    ['/oauth/token', 'gzip', REFUSED],
    ['/oauth/introspect', 'br', REFUSED],
    ['/oauth/revoke', 'identity, gzip', REFUSED],
    ['/api/revoke', 'x', REFUSED],
    ['/oauth/authorize', 'GZIP', /<!doctype html>/],
    ['/oauth/sign-in', 'zstd', /<!doctype html>/],
  ])('gets 415 before the body arrives: %s, %s', async (path, encoding, said) => {
    const { header } = await expectOne(encoded(path, encoding), 415, said);
    expect(header('accept-encoding')).toEqual(['identity']);
    expect(lines()).toMatchObject([
      { path, status: 415, error: 'invalid_request', rule_id: 'unreadable_body' },
    ]);
  });

  it('is read if the encoding is identity', async () => {
    const head = `${FORM}Content-Encoding: Identity\r\nConnection: close\r\nContent-Length: 3\r\n`;
    await expectOne(post(head, 'a=b'), 400, /is missing/);
  });
});

describe('a request with unambiguous framing', () => {
  const hidden = `Content-Length: ${HIDDEN.length}\r\n`;
  const hiddenChunk = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n${END}`;
  const inChunks = `${FORM}Transfer-Encoding: chunked\r\n`;

  it.each([
    ['a body that looks like a request', post(FORM + hidden, HIDDEN), 400],
    ['a request as the body of a GET', get(hidden) + HIDDEN, 200],
    ['a request as the body of a GET that is not allowed', get(hidden, '/oauth/token') + HIDDEN, 405],
    ['a request as the body of a GET of an unknown path', get(hidden, '/nothing') + HIDDEN, 404],
    ['a chunked body that looks like a request', post(inChunks, hiddenChunk), 400],
    ['a request as the chunked body of a GET', get('Transfer-Encoding: chunked\r\n') + hiddenChunk, 200],
    ['a tab before the encoding', post(`${FORM}Transfer-Encoding:\tchunked\r\n`, `3\r\na=b\r\n${END}`), 400],
    ['chunk extensions', post(inChunks, '3;a="\\"b";c\r\na=b\r\n0;d\r\n\r\n'), 400],
    ['trailers', post(inChunks, '3\r\na=b\r\n0\r\nX: y\r\n\r\n'), 400],
    ['an absolute-form target of another host', get('', 'http://evil.example/health/live'), 200],
    ['keep-alive in HTTP/1.0', get('Connection: keep-alive\r\n', '/health/live', 'HTTP/1.0'), 200],
    ['an unsupported Expect header', get('Expect: 200-ok\r\n'), 417],
    ['the maximum number of headers', get('a: b\r\n'.repeat(998)), 200],
  ])('is read completely, and so is the next: %s', async (_what, bytes, status) => {
    const { answers } = await converse(server.baseUrl, bytes + NEXT);
    expect(answers.map((answer) => answer.status)).toEqual([status, 200]);
    expect(asked()).not.toContain('/oauth/sign-in');
    expect(asked()).not.toContain('-');
  });

  // Some versions of Node show a thousand headers, and cut the request by those that they don't show. Newer ones refuse
  // the request and end the connection, so the one behind it may be answered or not.
  it.each([
    ['one header more than the maximum', get('a: b\r\n'.repeat(999))],
    ['a second Host after 3,000 headers', get(`${'a: b\r\n'.repeat(3_000)}Host: elsewhere\r\n`)],
    ['a Content-Length after 3,000 headers', get('a: b\r\n'.repeat(3_000) + hidden) + HIDDEN],
    ['chunks after 3,000 headers', post(`${'a: b\r\n'.repeat(3_000)}${inChunks}`, hiddenChunk)],
  ])('is refused, and no request is read from its body: %s', async (_what, bytes) => {
    const { answers } = await converse(server.baseUrl, bytes + NEXT);
    expect([[400], [400, 200]]).toContainEqual(answers.map(({ status }) => status));
    expect(answers[0]?.body).toMatch(/too many headers|The request is not valid HTTP/);
    expect(asked()).not.toContain('/oauth/sign-in');
  });

  it.each([
    ['a body of type text/plain', post(`Content-Type: text/plain\r\n${hidden}`, HIDDEN)],
    ['a body without Content-Type', post(hidden, HIDDEN)],
    ['a body that is too long', post(`${FORM}Content-Length: 10000\r\n`, HIDDEN.repeat(400))],
    ['a Content-Length of 10 GB', post(`${FORM}Content-Length: 9999999999\r\n`, HIDDEN.repeat(400))],
    ['chunks that are too long in all', post(inChunks, `${hiddenChunk.slice(0, -END.length)}`.repeat(400))],
  ])('closes the connection after its response: %s', async (_what, bytes) => {
    const { header } = await expectOne(bytes, 400, /"error":"invalid_request"/);
    expect(header('connection')).toEqual(['close']);
    expect(asked()).toEqual(['/oauth/token']);
  });

  it('gets 100 Continue on request, and is answered once', async () => {
    const bytes = post(`${FORM}Expect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n`, 'a=b');
    const { interim } = await expectOne(bytes, 400, /"error":"invalid_request"/);
    expect(interim).toEqual([100]);
  });

  it('gets no headers from a trailer', async () => {
    const resource = await server.createResource();
    const body = `7\r\ntoken=x\r\n0\r\nAuthorization: ${resource}\r\n\r\n`;
    const head = (lines: string) => `POST /oauth/introspect HTTP/1.1\r\nHost: x\r\n${inChunks}${lines}\r\n`;
    const pieces = [head(''), body, head(`Authorization: ${resource}\r\n`), body, NEXT];
    const { answers } = await converse(server.baseUrl, pieces);
    expect(answers.map(({ status }) => status)).toEqual([401, 200, 200]);
  });
});

async function exchange(): Promise<string> {
  const [client, user] = [await server.createClient(), await server.createUser()];
  const code = await obtainCode(new Agent(server.baseUrl), requestOf(client), user);
  logged = server.logLines.length; // what led to the code is not what is looked at
  return new URLSearchParams(tokenRequestOf(client, code)).toString();
}

/** Sends pieces on one connection. @returns the status of each answer, and how many of them have a token */
async function outcomeOf(pieces: string | readonly string[], manner: Manner = {}) {
  const { answers } = await converse(server.baseUrl, pieces, manner);
  const tokens = answers.filter(({ body }) => body.includes('"access_token":')).length;
  return { statuses: answers.map(({ status }) => status), tokens };
}

describe('a valid exchange', () => {
  const head = (length: number, lines = '') => post(`${FORM}${lines}Content-Length: ${length}\r\n`);

  it('is not carried out before its whole body has arrived', async () => {
    const body = await exchange();
    const rows = await rowsOf(server.database);
    const cutOff = await outcomeOf(head(body.length + 1) + body, { hangUp: true });
    expect(cutOff).toEqual({ statuses: [400], tokens: 0 });
    expect(await rowsOf(server.database)).toBe(rows);
    const whole = await outcomeOf(head(body.length) + body, { answers: 1 });
    expect(whole).toEqual({ statuses: [200], tokens: 1 });
  });

  it('includes the next request in its body if Content-Length says so, and is answered once', async () => {
    const body = await exchange();
    const outcome = await outcomeOf(head(body.length + HIDDEN.length) + body + HIDDEN, { answers: 1 });
    expect(outcome).toEqual({ statuses: [400], tokens: 0 });
    expect(asked()).toEqual(['/oauth/token']);
  });

  it.each<[what: string, statuses: number[], lines: string, pieces: (request: string) => string[]]>([
    ['followed by two requests', [200, 405, 200], '', (request) => [request + HIDDEN + NEXT]],
    ['followed by garbage in the same packet', [200, 400], '', (request) => [`${request}&garbage`]],
    ['followed by garbage in the next packet', [200, 400], '', (request) => [request, '&garbage']],
    ['with Connection: close, as the last', [200], 'Connection: close\r\n', (request) => [request + READY]],
  ])('is answered once: %s', async (_what, statuses, lines, pieces) => {
    const body = await exchange();
    const outcome = await outcomeOf(pieces(head(body.length, lines) + body));
    expect(outcome).toEqual({ statuses, tokens: 1 });
  });

  it('is carried out once when sent twice on one connection', async () => {
    const body = await exchange();
    const { statuses, tokens } = await outcomeOf((head(body.length) + body).repeat(2) + NEXT);
    expect([statuses.toSorted(), tokens]).toEqual([[200, 200, 400], 1]);
  });
});

const READY = get('', '/health/ready');
const BROKEN = 'Transfer-Encoding: chunked\r\n';

it.each<[what: string, statuses: number[], bytes: string]>([
  ['HTTP/1.0', [200], 'GET /health/live HTTP/1.0\r\n\r\n'],
  ['a request without a version', [200], 'GET /health/live\r\n\r\n'],
  ['HTTP/2.0 without its preface', [200], get('', '/health/live', 'HTTP/2.0')],
  [
    'chunks in HTTP/1.0 (RFC 9112 section 6.1)',
    [400],
    `POST /oauth/token HTTP/1.0\r\nConnection: keep-alive\r\n${BROKEN}\r\n${END}${NEXT}`,
  ],
  ['garbage in the body of the second request', [200, 400], READY + chunked('z\r\n')],
  ['two Host headers (RFC 9112 section 3.2)', [400], get('Host: y\r\nConnection: close\r\n')],
  ...['*', '*metrics', 'xhealth/ready', '?metrics', 'ftp://localhost/metrics'].map(
    (target): [string, number[], string] => [
      `the invalid target ${target}`,
      [400],
      get('Connection: close\r\n', target),
    ],
  ),
])('the connection is closed after the last response: %s', async (_what, statuses, bytes) => {
  const { answers } = await converse(server.baseUrl, bytes);
  expect(answers.map(({ status }) => status)).toEqual(statuses);
  for (const { headers } of answers) expect(headers.get('x-request-id')).toHaveLength(1);
  expect(answers.at(-1)?.headers.get('connection')).toEqual(['close']);
});

it.each(['POST /nothing', 'PUT /oauth/token'])(
  'a request answered before its whole body arrived gets no second response: %s',
  async (line) => {
    const head = (lines: string) => `${line} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`;
    const cutOff = await converse(server.baseUrl, [head('Content-Length: 500\r\n'), 'a=b'], { hangUp: true });
    const broken = await converse(server.baseUrl, [head(BROKEN), 'z\r\n']);
    expect([cutOff.answers.length, broken.answers.length]).toEqual([1, 1]);
  },
);

it('an Upgrade request is answered without an upgrade, and its connection is reused or closed', async () => {
  const wish = get('Connection: upgrade\r\nUpgrade: h2c\r\n');
  const { answers } = await converse(server.baseUrl, wish + NEXT);
  expect(answers[0]?.status).toBe(200);
  if (answers.length === 1) expect(answers[0]?.headers.get('connection')).toEqual(['close']);
});
