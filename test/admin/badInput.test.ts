import { describe, expect, it, onTestFinished } from 'vitest';
import { callAt, openAdmin, operatorToken, useAdmin } from '../support/admin.ts';
import { converse } from '../support/http/rawHttp.ts';
import { ownDatabase } from '../support/postgres/database.ts';

const admin = await useAdmin();
const { call, database, logLines } = admin;
const own = await admin.tokenFor('destroys');

const send = async (what: string, body?: string | Uint8Array<ArrayBuffer>, type = 'application/json') => {
  const [method = '', path = ''] = what.split(' ');
  const headers = { authorization: `Bearer ${own}`, ...(body !== undefined && { 'content-type': type }) };
  const answer = await fetch(admin.url + path, { method, headers, body: body ?? null });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  return { status: answer.status, body: await answer.json() };
};

describe('a request without a valid operator token', () => {
  const VALID = 'assent_op_';

  /** RFC 6750 section 3.1: a request without credentials gets no error code. */
  const UNKNOWN = ', error="invalid_token", error_description="The operator token is unknown."';

  it.each([
    ['no Authorization header', {}, 'no_operator', ''],
    ['the Basic scheme', { authorization: 'Basic abc' }, 'no_operator', ''],
    ['an access token', { authorization: `Bearer assent_at_${'a'.repeat(64)}` }, 'invalid_token', UNKNOWN],
    ['an unknown token', { authorization: `Bearer ${VALID}${'a'.repeat(43)}` }, 'invalid_token', UNKNOWN],
    ['too long a token', { authorization: `Bearer ${VALID}${'a'.repeat(44)}` }, 'invalid_token', UNKNOWN],
  ])('is refused with 401, also at unknown paths: %s', async (_what, headers, rule, error) => {
    for (const path of ['/v1/clients', '/v1/openapi.json', '/nothing']) {
      const answer = await fetch(`${admin.url}${path}`, { headers });
      const said = [answer.status, answer.headers.get('www-authenticate'), (await answer.json()).rule];
      expect(said).toEqual([401, `Bearer realm="operators"${error}`, rule]);
    }
  });

  it.each([
    ['expired', 'expires_at'],
    ['retired', 'retired_at'],
  ])('is refused if the token is %s, and says so', async (status, column) => {
    const token = await admin.tokenFor('reads');
    expect((await call('GET /v1/clients', undefined, token)).status).toBe(200);
    await database.pool.query(`update operators set ${column} = clock_timestamp() where role = 'reads'`);
    const { status: code, body, headers } = await call('GET /v1/clients', undefined, token);
    const detail = `The operator token is ${status}.`;
    expect([code, body.rule, body.detail]).toEqual([401, 'invalid_token', detail]);
    expect(headers.get('www-authenticate')).toContain(`error="invalid_token", error_description="${detail}"`);
  });

  it('is refused with the token in the query, and the token is not logged', async () => {
    const token = await admin.tokenFor('reads');
    const answer = await fetch(`${admin.url}/v1/clients?access_token=${token}`);
    expect(answer.status).toBe(401);
    const beside = await call(`GET /v1/clients?access_token=${token}`, undefined, token);
    expect([beside.status, beside.body.field]).toEqual([422, 'access_token']);
    expect(JSON.stringify(beside.body)).not.toContain(token);
    expect(logLines.join('')).not.toContain(token);
  });

  it('gets 429 after too many from one address, where a valid token still works [admin-badInput-1]', async () => {
    const other = await ownDatabase();
    const url = await openAdmin(other.pool, [], onTestFinished);
    const answers = [];
    for (let n = 1; n <= 22; n += 1) answers.push(await callAt(url, 'GET /v1/clients', undefined, 'x'));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
    const token = await operatorToken(other.pool, 'reader', 'reads', 365);
    expect((await callAt(url, 'GET /v1/clients', undefined, token)).status).toBe(200);
  });
});

const NEW = 'POST /v1/clients';
const HALF = '{"name":"A","redirect_uri":"https://a.example/","allowed_rights":["\\ud800"]}';

describe('an invalid operator request', () => {
  it.each<[what: string, status: number, field?: string | undefined, body?: string]>([
    ['an unpaired surrogate in a list', 422, 'allowed_rights', HALF],
    ['10,000 nested arrays', 400, undefined, '['.repeat(10_000) + ']'.repeat(10_000)],
    ['10,000 unclosed arrays', 400, undefined, '['.repeat(10_000)],
    ['10,000 nested objects', 422, 'name', `{"name":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
    ['the body null', 400, undefined, 'null'],
    ['a field twice', 400, undefined, '{"name":"A","redirect_uri":"https://a.example/","name":"B"}'],
    ['a field twice, once escaped', 400, undefined, '{"most":{"sum":"1","\\u0073um":"2"},"name":"A:\\""}'],
    ['a field twice among texts', 400, undefined, '{"name":"a\\":","site":":","\\u006eame":"\\\\"}'],
    ['the field __proto__', 400, undefined, '{"__proto__":{"name":"A"}}'],
    ['GET /v1/audit?client_id=x', 422, 'since'],
    ['GET /v1/audit?reference=x', 422, 'since'],
    ['GET /v1/audit?resource_id=x&limit=9', 422, 'since'],
    ['GET /v1/audit?grant_id=00000000-0000-0000-0000-000000000000', 422, 'since'],
    ['GET /v1/users?limit=0', 422, 'limit'],
    ['GET /v1/users?limit=1e3', 422, 'limit'],
    ['GET /v1/users?login=a&login=b', 422, 'login'],
    ['GET /v1/audit', 422],
    ['GET /v1/audit?outcome=unknown', 422, 'outcome'],
    ['GET /v1/users/%ff', 400],
    ['POST /v1/clients?name=A', 422, 'name'],
    ['DELETE /v1/clients/x?confirm=yes', 400, 'confirm'],
    ['DELETE /v1/clients/x?confirm=true&confirm=true', 400, 'confirm'],
    ['GET /v1/audit/next?after=yesterday', 422, 'after'],
    [`GET /v1/audit/next?after=${'9'.repeat(18)}.1.1.1.1`, 400, 'after'],
    ['GET /v1/audit/next?after=1.1.1.1.1', 400, 'after'],
    ['GET /v1/nothing', 404],
  ])('is refused, naming any wrong field: %s', async (what, status, field, body) => {
    const answer = await send(body === undefined ? what : NEW, body);
    expect([answer.status, answer.body.status, answer.body.field]).toEqual([status, status, field]);
    expect(answer.body.reference).toMatch(/^[0-9a-f]{10}$/);
    const { rows } = await database.pool.query('select name from clients');
    expect(rows).toEqual([]);
  });

  it('is treated as a request without a body if the body is empty, despite a Content-Type', async () => {
    expect((await send('POST /v1/clients/x/block', '')).status).toBe(404);
    expect((await send('PUT /v1/clients', '')).status).toBe(405);
    expect((await send('PUT /v1/clients', '{')).status).toBe(405);
  });

  it('is refused if its body is not UTF-8, by its bytes or by its type', async () => {
    const shop = JSON.stringify({ name: 'Zoë', redirect_uri: 'https://a.example/' });
    const bytes = (encoding: BufferEncoding) => new Uint8Array(Buffer.from(shop, encoding));
    const refused = await send(NEW, bytes('latin1'));
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('UTF-8')]);
    expect((await send(NEW, bytes('utf16le'))).status).toBe(400);
    for (const charset of ['iso-8859-1', 'utf-16', '"windows-1252"'])
      expect((await send(NEW, bytes('utf8'), `application/json; charset=${charset}`)).status).toBe(415);
    for (const charset of ['utf-8', '"UTF-8"', 'utf8'])
      expect((await send(`${NEW}?x=1`, bytes('utf8'), `application/json;charset=${charset}`)).status).toBe(
        422,
      );
    expect((await send(`${NEW}?x=1`, `\ufeff${shop}`)).status).toBe(422); // RFC 8259 section 8.1 lets a mark be ignored
  });

  it('is refused if its body is a form, with the type that it needs [admin-badInput-2]', async () => {
    const answer = await send(NEW, 'name=A', 'application/x-www-form-urlencoded');
    expect([answer.status, answer.body.detail]).toEqual([415, expect.stringContaining('application/json')]);
  });

  it.each<[asked: string, says: RegExp, body?: string]>([
    [NEW, /^There is no field colour there: the body may have name, .*, force\.$/, '{"colour":1}'],
    [`${NEW}?name=A`, /^There is no field name there: the body may have name, /],
    ['GET /v1/users?colour=red', /there: the query may have after, name, .*, external_id\.$/],
    ['GET /v1/users/x?colour=red', /there: the query may have none\.$/],
    ['GET /v1/audit', /^missing filter: pass at least one of login, user_id, .*, after or limit$/],
    ['GET /v1/grants', /^pass `login`, `client_id` or both$/],
    ['PATCH /v1/clients/x', /^nothing to change: pass at least one of name, redirect_uri, /, '{}'],
    ['PATCH /v1/users/x', /^nothing to change: pass at least one of new_login, name or external_id$/, '{}'],
    ['POST /v1/grants/revoke', /^pass what to revoke: grant_id, login, client_id, since or until;/, '{}'],
    ['GET /v1/client', /^There is no such address: \/v1\/openapi\.json has all, such as \/v1\/clients\.$/],
  ])('is answered with the names that exist: %s', async (asked, says, body) => {
    expect((await send(asked, body)).body.detail).toMatch(says);
  });
});

const head = (line: string, more: string) => `${line} HTTP/1.1\r\n${more}\r\n\r\n`;

it.each([
  ['a bad Content-Length', head('POST /v1/clients', 'Host: x\r\nContent-Length: x'), 400, 'POST'],
  ['no Host', head('GET /v1/clients', 'A: b'), 400, 'GET'],
  ['no request line', 'hello\r\n\r\n', 400, 'GET'],
  ['a compressed body', head('POST /v1/clients', 'Host: x\r\nContent-Encoding: gzip'), 415, 'POST'],
  ['CONNECT', head('CONNECT x:1', 'Host: x:1'), 400, 'GET'],
])(
  'an unreadable operator request gets a problem and a line in the log: %s',
  async (_what, bytes, status, method) => {
    const { answers } = await converse(admin.url, bytes);
    expect(answers).toMatchObject([{ status }]);
    const [{ headers, body } = {}] = answers;
    expect(headers?.get('content-type')).toEqual(['application/problem+json']);
    const { reference, ...problem } = JSON.parse(body ?? '');
    const detail = expect.stringMatching(/\.$/);
    expect(problem).toMatchObject({ status, detail, rule: 'unreadable_request' });
    const line = JSON.parse(logLines.at(-1) ?? '');
    expect(line).toMatchObject({ ref: reference, method, status, rule_id: 'unreadable_request' });
  },
);

it('the log has a line for each operator’s request, with the operator, and without values of its fields [admin-badInput-3]', async () => {
  const login = 'vera.ivanova';
  await call(`GET /v1/users/${login}?x=${login}`, undefined, own);
  await call('POST /v1/users', { login, name: login, password: login }, own);
  await expect.poll(() => logLines.length).toBeGreaterThan(1);
  expect(logLines.slice(-2).map((line) => JSON.parse(line))).toMatchObject([
    { operator: 'destroys 2', method: 'GET', path: '/v1/users/:login', status: 422 },
    { method: 'POST', path: '/v1/users', status: 422, rule_id: 'refused_value' },
  ]);
  expect(logLines.join('')).not.toContain(login);
});
