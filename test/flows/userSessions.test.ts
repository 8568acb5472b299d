import { describe, expect, it } from 'vitest';
import { currentSession, type Session, signOut, signOutToken } from '../../src/flows/session.ts';
import { endOtherSessions, endSession, findUserSessions } from '../../src/flows/userSessions.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { Agent } from '../support/agent.ts';
import { signIn } from '../support/flow.ts';
import { CALLER, type TestUser, useServer } from '../support/server.ts';

const server = await useServer({ trustProxy: 1 });
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

interface SignedIn {
  readonly cookie: string;
  readonly session: Session;
}

async function signedIn(user: TestUser, headers: Record<string, string> = {}): Promise<SignedIn> {
  const agent = new Agent(server.baseUrl, headers);
  await signIn(agent, user.login, user.password);
  const cookie = agent.cookies.get('assent_session') ?? '';
  const session = await currentSession(server.context, cookie);
  if (session === null) throw new Error('nobody is signed in');
  return { cookie, session };
}

const list = ({ session }: SignedIn) => findUserSessions(server.context, session);
const lives = async ({ cookie }: SignedIn) => (await currentSession(server.context, cookie)) !== null;

describe('the sessions of a user', () => {
  it('are listed with device and network, the one that asks first, and no other user’s', async () => {
    const [user, other] = [await server.createUser(), await server.createUser()];
    const phone = await signedIn(user, { 'user-agent': PHONE, 'x-forwarded-for': '2001:db8:12:3456::1' });
    const desk = await signedIn(user, { 'user-agent': FIREFOX, 'x-forwarded-for': '203.0.113.77' });
    await signedIn(other);
    const { sessions, endOthersToken } = await list(desk);
    expect(sessions).toEqual([
      {
        sessionId: expect.stringMatching(/^[0-9a-f]{32}$/),
        isThis: true,
        createdAt: expect.any(Date),
        seenAt: expect.any(Date),
        ...{ browser: 'Firefox', system: 'Linux', network: '203.0.113.0/24' },
        endToken: null,
      },
      expect.objectContaining({
        isThis: false,
        browser: 'Safari',
        system: 'iOS',
        network: '2001:db8:12::/48',
      }),
    ]);
    expect(endOthersToken).not.toBeNull();
    const told = JSON.stringify(sessions);
    for (const { cookie } of [phone, desk]) {
      expect(told).not.toContain(cookie);
      expect(told).not.toContain(sha256(cookie).slice(2));
    }
  });

  it('are listed no more when they are over', async () => {
    const user = await server.createUser();
    const [idle, old, here] = [await signedIn(user), await signedIn(user), await signedIn(user)];
    const set = (column: string, { session }: SignedIn, interval: string) =>
      server.database.pool.query(
        `update sessions set ${column} = now() - $2::interval where session_hash = $1`,
        [session.sessionHash, interval],
      );
    await set('seen_at', idle, '31 minutes');
    await set('created_at', old, '13 hours');
    const { sessions, endOthersToken } = await list(here);
    expect([sessions.length, endOthersToken]).toEqual([1, null]);
  });

  it('end one by one, by the form that was made for it and for whom it was made', async () => {
    const user = await server.createUser();
    const [one, two, here] = [await signedIn(user), await signedIn(user), await signedIn(user)];
    const { sessions } = await list(here);
    const [, later, earlier] = sessions;
    const end = (by: SignedIn, sessionId = '', formToken: string | null = null) =>
      endSession(server.context, by.session, { sessionId, formToken: formToken ?? undefined }, CALLER);
    expect(await end(here, later?.sessionId, earlier?.endToken)).toEqual({ outcome: 'stale' });
    expect(await end(one, later?.sessionId, later?.endToken)).toEqual({ outcome: 'stale' });
    expect(await end(here, later?.sessionId)).toEqual({ outcome: 'stale' });
    expect(await Promise.all([one, two, here].map(lives))).toEqual([true, true, true]);
    expect(await end(here, later?.sessionId, later?.endToken)).toEqual({ outcome: 'ended' });
    expect(await Promise.all([one, two, here].map(lives))).toEqual([true, false, true]);
    expect(await end(here, later?.sessionId, later?.endToken)).toEqual({ outcome: 'ended' });
  });

  it('end all but the one that asks, and no other user’s', async () => {
    const [user, other] = [await server.createUser(), await server.createUser()];
    const all = [await signedIn(user), await signedIn(user), await signedIn(other), await signedIn(user)];
    const here = all[3] as SignedIn;
    expect(await endOtherSessions(server.context, here.session, undefined, CALLER)).toEqual({
      outcome: 'stale',
    });
    const token = (await list(here)).endOthersToken ?? '';
    expect(await endOtherSessions(server.context, all[0]?.session as Session, token, CALLER)).toEqual({
      outcome: 'stale',
    });
    expect(await endOtherSessions(server.context, here.session, token, CALLER)).toEqual({ outcome: 'ended' });
    expect(await Promise.all(all.map(lives))).toEqual([false, false, true, true]);
  });

  it('are in the history when they end, each act once', async () => {
    const user = await server.createUser();
    const [, , here] = [await signedIn(user), await signedIn(user), await signedIn(user)];
    const { sessions, endOthersToken } = await list(here);
    const [, later] = sessions;
    const sent = { sessionId: later?.sessionId ?? '', formToken: later?.endToken ?? undefined };
    for (let n = 0; n < 2; n += 1) await endSession(server.context, here.session, sent, CALLER);
    for (let n = 0; n < 2; n += 1) {
      await endOtherSessions(server.context, here.session, endOthersToken ?? '', CALLER);
    }
    const token = signOutToken(server.context, here.session);
    for (let n = 0; n < 2; n += 1) await signOut(server.context, here.session, token, CALLER);
    const { rows } = await server.database.pool.query(
      `select kind, address, reference from audit_events
        where user_id = $1 and kind not in ('signed_in', 'user_created') order by at`,
      [user.userId],
    );
    const by = { address: CALLER.address, reference: CALLER.reference };
    expect(rows).toEqual([
      { kind: 'session_ended', ...by },
      { kind: 'other_sessions_ended', ...by },
      { kind: 'signed_out', ...by },
    ]);
  });

  it('end although a sign-in of the same user ends some of them at that moment', async () => {
    const user = await server.createUser();
    const here = await signedIn(user);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([1, 2, 3].map(() => signedIn(user)));
      const token = (await list(here)).endOthersToken ?? '';
      const ends = [1, 2, 3].map(() => endOtherSessions(server.context, here.session, token, CALLER));
      expect(await Promise.all([...ends, signedIn(user)])).toHaveLength(4);
    }
    expect(await lives(here)).toBe(true);
  });
});
