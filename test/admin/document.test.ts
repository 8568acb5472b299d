import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { openAdmin } from '../support/admin.ts';
import {
  type Asked,
  apiAt,
  type Described,
  expectDescribed,
  isAllowed,
  OPERATIONS,
  useDescribed,
} from './described.ts';
import { fullRequest, leastRequest, makeReference, makeThings, type Things } from './things.ts';

// Each operation of docs/openapi.json answers valid and invalid requests as the document says.

const api = await useDescribed();
const { tokens } = api;
const things = { ...(await makeThings(api)), reference: await makeReference(api) };

async function answerTo(operation: Described, asked: Asked, headers?: Record<string, string>) {
  const answer = await api.ask(operation, asked, headers);
  expectDescribed(operation, answer);
  expect(answer.status).toBeLessThan(500);
  return answer;
}

/** A new user, application and so on, if the request would delete or rename those of other tests. */
async function ownThings({ id, asks }: Described): Promise<Things> {
  const isOwn = asks || id === 'usersUpdate';
  return isOwn ? makeThings(api) : things;
}

const namesIn = ({ query, body }: Asked) => Object.keys({ ...query, ...(body as object) });

describe('a valid request', () => {
  it.each(OPERATIONS)('is carried out, with minimal and with all fields: $id', async (operation) => {
    const [least, full] = [leastRequest, fullRequest].map((request) => namesIn(request(operation, things)));
    for (const request of least?.length === full?.length ? [leastRequest] : [leastRequest, fullRequest]) {
      const asked = request(operation, await ownThings(operation));
      const sent = operation.asks ? { ...asked, query: { confirm: 'true' } } : asked;
      expect(isAllowed(operation, sent), JSON.stringify(sent)).toBe(true);
      const { status, body } = await answerTo(operation, sent);
      expect(status, `${JSON.stringify(sent)}: ${JSON.stringify(body)}`).toBeLessThan(300);
    }
  });

  it.each(OPERATIONS.filter(({ asks }) => asks))(
    'gets 409 without confirmation if something would be lost: $id',
    async (operation) => {
      const asked = leastRequest(operation, things);
      const { status, body } = await answerTo(operation, asked);
      expect([200, 409]).toContain(status);
      if (status === 409) expect(body.rule).toBe('not_confirmed');
    },
  );
});

const LONG = 'a'.repeat(5_000);
const UNSTORABLE = ['a\0', '\ud800'];
const TEXTS = ['', LONG, ...UNSTORABLE, 'a/b?c#d%'];
const OTHERS = ['', LONG, ...UNSTORABLE, null, true, -1, ['\0'], {}];

interface Spoiling {
  readonly where: 'path' | 'query' | 'body';
  readonly name: string;
  readonly value: unknown;
}

const UNKNOWN = { name: 'colour', value: 'red' };

/** Each field with each value, each required one of the body without a value, and an unknown field. */
function spoilingsOf({ parameters, body }: Described): Spoiling[] {
  const part = body === undefined ? 'query' : 'body';
  const inUrl = parameters.flatMap(({ name, in: where }) => TEXTS.map((value) => ({ where, name, value })));
  const inBody = Object.keys(body?.properties ?? {}).flatMap((name) =>
    OTHERS.map((value) => ({ where: 'body' as const, name, value })),
  );
  const missing = (body?.required ?? []).map((name) => ({ where: part, name, value: undefined }) as const);
  return [...inUrl, ...inBody, ...missing, { where: part, ...UNKNOWN }];
}

const LOWER = {
  reads: [''],
  supports: ['reads'],
  changes: ['reads', 'supports'],
  destroys: ['reads', 'supports', 'changes'],
};

const NEW = { login: 'vera', name: 'Vera' };

it.each<[id: string, status: number, asked: Asked]>([
  ['usersCreate', 422, { body: NEW }],
  ['usersCreate', 422, { body: { ...NEW, password: null } }],
  ['usersCreate', 201, { body: { ...NEW, password: null, external_id: 'x' } }],
  ['grantsRevoke', 422, { body: { grant_id: 'x', login: 'x' } }],
  ['grantsRevoke', 404, { body: { client_id: 'x', login: 'x' } }],
  ['auditList', 422, { query: { grant_id: '' } }],
  ['auditList', 422, { query: { user_id: 'x' } }],
  ['clientsUpdate', 200, { body: { force: false } }],
  ['clientsUpdate', 422, { body: {} }],
  ['clientsUpdate', 422, { body: { name: 'Tea 🍵' } }],
  ['clientsUpdate', 200, { body: { name: 'Tea № 1 ± €' } }],
  ['clientsCreate', 422, { body: { name: 'Shop ✔️', redirect_uri: 'https://a.example/' } }],
  ['operatorsCreate', 422, { body: { name: 'night 🌙', role: 'reads' } }],
])(
  'docs/openapi.json forbids what is refused as a whole, or by a pattern: %s %i %o',
  async (id, status, { query, body }) => {
    const operation = OPERATIONS.find((one) => one.id === id) as Described;
    const { path = {} } = leastRequest(operation, things);
    const asked = { path, ...(query && { query }), ...(body !== undefined && { body }) };
    expect((await answerTo(operation, asked)).status).toBe(status);
    expect(isAllowed(operation, asked)).toBe(status !== 422);
  },
);

describe('an invalid request', () => {
  it.each(OPERATIONS)(
    'is refused if it violates docs/openapi.json, with its field: $id',
    async (operation) => {
      let right = leastRequest(operation, await ownThings(operation));
      for (const { where, name, value } of spoilingsOf(operation)) {
        const asked = { ...right, [where]: { ...(right[where] as object), [name]: value } };
        const { status, body } = await answerTo(operation, asked);
        const isUnstorable = where !== 'query' && UNSTORABLE.includes(String(value));
        const isWrong = isUnstorable || !isAllowed(operation, asked);
        expect(isWrong && status < 400, `${status} ${JSON.stringify(asked).slice(0, 500)}`).toBe(false);
        if (value === undefined || name === UNKNOWN.name) expect([status, body.field]).toEqual([422, name]);
        if (name === 'new_login' && status === 200)
          right = leastRequest(operation, await ownThings(operation));
      }
    },
  );

  it.each(OPERATIONS)('is refused with a malformed, oversized or non-JSON body: $id', async (operation) => {
    if (operation.method === 'GET') return;
    const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
    for (const [type, sent, status] of [
      ['application/json', '{', 400],
      ['application/json', '[]', 400],
      ['application/json', '"x"', 400],
      ['text/plain', '{}', 415],
      ['application/json', JSON.stringify({ name: 'a'.repeat(70_000) }), 413],
    ] as const) {
      const answer = await api.send(operation.method, path, { 'content-type': type }, sent);
      expectDescribed(operation, answer);
      expect(answer.status).toBe(status);
    }
  });

  it.each(OPERATIONS)('is refused for operators without the role: $id', async (operation) => {
    const right = leastRequest(operation, things);
    for (const role of ['reads', 'supports', 'changes'] as const) {
      const { status } = await answerTo(operation, right, { authorization: `Bearer ${tokens[role]}` });
      expect(status === 403, role).toBe(LOWER[operation.effect].includes(role));
    }
    const { status } = await answerTo(operation, right, { authorization: 'Bearer x' });
    expect([401, 429]).toContain(status);
  });
});

it('while PostgreSQL is unreachable, each operation gets 503 with Retry-After', async () => {
  const pool = openDatabase('postgres://nobody@127.0.0.1:1/none');
  const away = apiAt(await openAdmin(pool), tokens.destroys);
  for (const operation of OPERATIONS) {
    const answer = await away.ask(operation, leastRequest(operation, things));
    expectDescribed(operation, answer);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
  }
  await pool.end();
});
