import { expect } from 'vitest';
import { decide, introspect, obtainCode, obtainToken, reachConsent, requestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { type Changes, exchange, type Fields } from '../support/http/tokenRequests.ts';
import { rowsOf } from '../support/postgres/rows.ts';
import type { NewUser } from '../support/registrations.ts';
import type { TestClient, TestServer } from '../support/server.ts';
import { isLive } from '../support/state.ts';

const MARIA: NewUser = { name: 'Maria Petrova', paymentPassword: null };

/** A user at a browser, a resource server, and all that they and applications do. */
export async function flowAt(server: TestServer, newUser = MARIA) {
  const user = await server.createUser(newUser);
  const agent = new Agent(server.baseUrl);
  const resource = await server.createResource();

  const reachPage = (client: TestClient, fields: Fields = {}) =>
    reachConsent(agent, requestOf(client, fields), user);

  return {
    user,
    agent,
    resource,
    reachPage,
    allow: async (client: TestClient, fields?: Fields) =>
      decide(agent, await reachPage(client, fields), 'allow'),
    reject: async (client: TestClient, fields?: Fields) =>
      decide(agent, await reachPage(client, fields), 'reject'),
    codeFor: (client: TestClient, fields: Fields = {}) => obtainCode(agent, requestOf(client, fields), user),
    exchanged: (client: TestClient, code: string, changes?: Changes) =>
      exchange(server, client, code, changes),
    tokenFor: (client: TestClient, fields?: Fields) => obtainToken(agent, client, user, fields),
    introspected: (token: string) => introspect(server, resource, token),
    live: (token: string) => isLive(server, resource, token),

    async writingNothing<Result>(work: () => Promise<Result>): Promise<Result> {
      const before = await rowsOf(server.database);
      const result = await work();
      expect(await rowsOf(server.database)).toEqual(before);
      return result;
    },
  };
}

/** The page that a browser gets for a request, or the refusal. */
export async function open(browser: Agent, request: Fields): Promise<Answer> {
  const answer = await browser.post('/oauth/authorize', request);
  return answer.status === 303 ? browser.get(answer.location ?? '') : answer;
}
