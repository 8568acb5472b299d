import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import {
  decide,
  introspect,
  obtainCode,
  obtainToken,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../support/flow.ts';
import { useServer } from '../support/server.ts';

const server = useServer();

describe('contract section 3: states and transitions', () => {
  it('3 issues a code when the user confirms', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    const answer = await decide(agent, await reachConsent(agent, requestOf(client), user), 'allow');
    expect(answer.status).toBe(302);
    expect(answer.location).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?code=[A-Za-z0-9._~-]+$/);
  });

  it('3 annuls the token of an earlier authorization when the user confirms a new one', async () => {
    const [client, user, resource] = [
      await server.createClient(),
      await server.createUser(),
      await server.createResource(),
    ];
    const agent = new Agent(server.baseUrl);
    const earlier = await obtainToken(agent, client, user);
    expect(await introspect(server, resource, earlier)).toMatchObject({ active: true, username: user.login });
    await obtainCode(agent, requestOf(client), user);
    expect(await introspect(server, resource, earlier)).toEqual({ active: false });
  });

  it('3 refuses a code the second time', async () => {
    const [client, user] = [await server.createClient(), await server.createUser()];
    const agent = new Agent(server.baseUrl);
    const code = await obtainCode(agent, requestOf(client), user);
    expect((await agent.post('/oauth/token', tokenRequestOf(client, code))).status).toBe(200);
    const again = await agent.post('/oauth/token', tokenRequestOf(client, code));
    expect(again.status).toBe(400);
    expect(JSON.parse(again.body)).toMatchObject({ error: 'invalid_grant' });
  });
});
