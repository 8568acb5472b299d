import { pino } from 'pino';
import { afterAll } from 'vitest';
import { buildAdminApp } from '../../src/admin/server.ts';
import { perform } from '../../src/operations/operation.ts';
import * as operators from '../../src/operations/operators.ts';
import type { Effect } from '../../src/rules/account/role.ts';
import { BUILT_IN_OFFER } from '../../src/rules/request/scopeRules.ts';
import { ledger, refuse } from './ledger.ts';
import { createDatabase, type TestDatabase } from './postgres/database.ts';
import { collect } from './server.ts';
import { noteShown } from './traffic.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the document that it asks for
  readonly body: any;
}

/** The operators' API on a real port and a real database of its own. */
export interface TestAdmin {
  readonly url: string;
  readonly database: TestDatabase;
  readonly logLines: string[];
  /** An operator's token. */
  tokenFor(role: Effect, days?: number): Promise<string>;
  /** @param what method and path, such as `GET /v1/clients`; as an operator who may do all */
  call(what: string, body?: object, token?: string): Promise<Answer>;
}

export async function useAdmin(): Promise<TestAdmin> {
  const database = await createDatabase();
  const logLines: string[] = [];
  const surroundings = { db: database.pool, serviceNames: () => ['Assent'], offer: () => BUILT_IN_OFFER };
  const app = buildAdminApp(surroundings, 100, pino({ level: 'trace' }, collect(logLines)));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  let made = 0;
  const tokenFor = async (role: Effect, days = 1) => {
    made += 1;
    const input = { name: `${role} ${made}`, role, days };
    const { operatorToken } = await perform(
      operators.create,
      { db: database.pool, operator: 'tests' },
      input,
    );
    ledger.note('operator token', operatorToken);
    return operatorToken;
  };
  const own = await tokenFor('destroys', 30);
  afterAll(async () => {
    await app.close();
    refuse(ledger.search('the log', logLines));
    await database.drop();
  });
  return {
    url,
    database,
    logLines,
    tokenFor,
    call: (what, body, token = own) => callAt(url, what, body, token),
  };
}

export async function callAt(
  url: string,
  what: string,
  body: object | undefined,
  token: string,
): Promise<Answer> {
  const [method = '', path = ''] = what.split(' ');
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  noteShown(text);
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}
