import { expect } from 'vitest';
import { tokenRequestOf } from '../flow.ts';
import type { TestClient, TestServer } from '../server.ts';
import { Agent, type Answer } from './agent.ts';

// Token requests as an application's server sends them, and what their answers say.

export type Fields = Record<string, string>;

export type Changes = Record<string, string | undefined>;

export function change(fields: Fields, changes: Changes): Fields {
  const changed = Object.entries({ ...fields, ...changes });
  return Object.fromEntries(changed.filter((field): field is [string, string] => field[1] !== undefined));
}

export function postToken(
  server: TestServer,
  fields: Fields | string,
  headers: Fields = {},
): Promise<Answer> {
  return new Agent(server.baseUrl).post('/oauth/token', fields, headers);
}

export function exchange(
  server: TestServer,
  client: TestClient,
  code: string,
  changes: Changes = {},
): Promise<Answer> {
  return postToken(server, change(tokenRequestOf(client, code), changes));
}

export function basic(id: string, secret: string): Fields {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

export function documentOf(answer: Answer): Record<string, unknown> {
  return JSON.parse(answer.body) as Record<string, unknown>;
}

export function expectToken(answer: Answer): string {
  const { access_token, error } = documentOf(answer);
  expect([answer.status, error, typeof access_token]).toEqual([200, undefined, 'string']);
  return String(access_token);
}

/** Expects the failure of 4.2 with a code of 7.2: always 400, never a token, never a challenge to log in. */
export function expectTokenError(answer: Answer, error: string): void {
  const document = documentOf(answer);
  expect({ status: answer.status, error: document.error }).toEqual({ status: 400, error });
  expect(document).not.toHaveProperty('access_token');
  expect(answer.headers.get('www-authenticate')).toBeNull();
}
