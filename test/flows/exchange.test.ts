import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../src/flows/exchange.ts';
import type { TokenRequest } from '../../src/rules/tokenRequest.ts';
import { Agent } from '../support/agent.ts';
import { introspect, obtainCode, requestOf } from '../support/flow.ts';
import { intercept } from '../support/intercept.ts';
import { CALLER, type TestClient, useServer } from '../support/server.ts';

const server = await useServer();

/** The pool, but the answer to its first exchange is lost on the way: the commit is not. */
function losesFirstAnswer(pool: pg.Pool): pg.Pool {
  let lost = false;
  return intercept(pool, async (statement, run) => {
    const answer = await run();
    if (lost || statement.name !== 'grant-exchange') return answer;
    lost = true;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  });
}

async function tokenRequest(client: TestClient): Promise<TokenRequest> {
  const code = await obtainCode(new Agent(server.baseUrl), requestOf(client), await server.createUser());
  const { clientId, clientSecret, redirectUri } = client;
  return { code, clientId, clientSecret, redirectUri, codeVerifier: null };
}

describe('an exchange whose answer is lost between database and server', () => {
  it('is asked again with the same token, which is the one that works', async () => {
    const request = await tokenRequest(await server.createClient());
    const context = { ...server.context, db: losesFirstAnswer(server.context.db) };
    const { accessToken, expiresIn } = await exchange(context, request, CALLER);
    expect(expiresIn).toBeGreaterThan(0);
    const resource = await server.createResource();
    expect(await introspect(server, resource, accessToken)).toMatchObject({ active: true });
  });

  it('is no replay: only a second exchange by the application revokes the token', async () => {
    const request = await tokenRequest(await server.createClient());
    const context = { ...server.context, db: losesFirstAnswer(server.context.db) };
    const { accessToken } = await exchange(context, request, CALLER);
    const resource = await server.createResource();
    await expect(exchange(server.context, request, CALLER)).rejects.toMatchObject({ code: 'invalid_grant' });
    expect(await introspect(server, resource, accessToken)).toEqual({ active: false });
  });
});
