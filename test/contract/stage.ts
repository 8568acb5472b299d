import * as cheerio from 'cheerio';
import { expect } from 'vitest';
import { Agent, type Answer } from '../support/agent.ts';
import { introspect, tokenRequestOf } from '../support/flow.ts';
import type { TestClient, TestServer } from '../support/server.ts';

// What the contract tests share: token requests, what an answer says, and what the database holds.

export type Fields = Record<string, string>;
/** Fields to set, or with `undefined` to leave out. */
export type Changes = Record<string, string | undefined>;

export function change(fields: Fields, changes: Changes): Fields {
  const changed = Object.entries({ ...fields, ...changes });
  return Object.fromEntries(changed.filter((field): field is [string, string] => field[1] !== undefined));
}

/** Sends a token request as an application's server does: without a browser's cookies. */
export function postToken(
  server: TestServer,
  fields: Fields | string,
  headers: Fields = {},
): Promise<Answer> {
  return new Agent(server.baseUrl).post('/oauth/token', fields, headers);
}

/** Exchanges a code by a request that is right but for `changes`. */
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

/** Expects the success of 4.2. @returns the access token */
export function expectToken(answer: Answer): string {
  const { access_token, error } = documentOf(answer);
  expect({ status: answer.status, error, token: typeof access_token }).toEqual({
    status: 200,
    error: undefined,
    token: 'string',
  });
  return String(access_token);
}

/** Expects the failure of 4.2 with a code of 7.2: always 400, never a token, never a challenge to log in. */
export function expectTokenError(answer: Answer, error: string): void {
  const document = documentOf(answer);
  expect({ status: answer.status, error: document.error }).toEqual({ status: 400, error });
  expect(document).not.toHaveProperty('access_token');
  expect(answer.headers.get('www-authenticate')).toBeNull();
}

/** Expects the page of 7.1: the code as text, no other one, and no way back to the application. */
export function expectErrorPage(answer: Answer, error: string): void {
  const codes = answer.text.match(/invalid_\w+|unauthorized_client|access_denied/g) ?? [];
  expect({ status: answer.status, page: answer.page, codes, location: answer.location }).toEqual({
    status: 400,
    page: 'error',
    codes: [error],
    location: null,
  });
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
}

/** The terms of a page with what they say, for example "Valid until". */
export function factsOf({ body }: Answer): Record<string, string> {
  const $ = cheerio.load(body);
  const facts = $('dt').toArray();
  return Object.fromEntries(facts.map((term) => [$(term).text().trim(), $(term).next('dd').text().trim()]));
}

/** Whether a token gives any right now. */
export async function isLive(server: TestServer, resource: string, token: string): Promise<boolean> {
  return (await introspect(server, resource, token)).active === true;
}

/** Everything that an authorization can write. Equal before and after: nothing was written. */
export async function contentsOf(server: TestServer): Promise<unknown> {
  const { rows } = await server.database.pool.query(`
    select (select json_agg(g order by grant_id) from grants g) as grants,
           (select json_agg(s order by session_hash) from sessions s) as sessions,
           (select json_agg(e order by at) from audit_events e where operator is null) as events`);
  return rows[0];
}

/** Lets the lifetime of a code be over. */
export async function expireCode(server: TestServer, client: TestClient): Promise<void> {
  await server.database.pool.query(
    `update grants set code_expires_at = clock_timestamp() - interval '1 second' where client_id = $1`,
    [client.clientId],
  );
}

export async function setClientStatus(server: TestServer, client: TestClient, status: string): Promise<void> {
  await server.database.pool.query('update clients set status = $2 where client_id = $1', [
    client.clientId,
    status,
  ]);
}

export async function setUserStatus(server: TestServer, login: string, status: string): Promise<void> {
  await server.database.pool.query('update users set status = $2 where login = $1', [login, status]);
}
