import { describe, expect, it } from 'vitest';
import { type Cursor, findAuthorizationsPage } from '../../src/flows/authorizations.ts';
import { currentSession, type Session } from '../../src/flows/session.ts';
import { Agent } from '../support/agent.ts';
import { obtainToken, signIn } from '../support/flow.ts';
import { type TestUser, useServer } from '../support/server.ts';
import { setClientStatus } from '../support/state.ts';

const server = await useServer();
const { pool } = server.database;
const FIRST: Cursor = { direction: 'older', grantId: null };

async function sessionOf(agent: Agent): Promise<Session> {
  const session = await currentSession(server.context, agent.cookies.get('assent_session') ?? '');
  if (session === null) throw new Error('nobody is signed in');
  return session;
}

async function signedIn(): Promise<{ user: TestUser; agent: Agent; session: Session }> {
  const [user, agent] = [await server.createUser(), new Agent(server.baseUrl)];
  await signIn(agent, user.login, user.password);
  return { user, agent, session: await sessionOf(agent) };
}

describe('the state of an authorization', () => {
  it('is that its application is blocked, and that it expires within 30 days', async () => {
    const { user, agent, session } = await signedIn();
    const [soon, later, blocked] = [
      await server.createClient(),
      await server.createClient(),
      await server.createClient(),
    ];
    for (const client of [soon, later, blocked]) await obtainToken(agent, client, user);
    const issued = (clientId: string, days: number) =>
      pool.query(
        `update grants set token_issued_at = now() - interval '36 months' + make_interval(days => $2) where client_id = $1`,
        [clientId, days],
      );
    await issued(soon.clientId, 29);
    await issued(later.clientId, 32);
    await setClientStatus(server, blocked, 'blocked');
    const { authorizations } = await findAuthorizationsPage(server.context, session, FIRST);
    const states = authorizations.map(({ clientId, isBlocked, expiresSoon }) => [
      clientId,
      isBlocked,
      expiresSoon,
    ]);
    expect(states).toEqual([
      [blocked.clientId, true, false],
      [later.clientId, false, false],
      [soon.clientId, false, true],
    ]);
  });
});
