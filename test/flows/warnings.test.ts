import { describe, expect, it } from 'vitest';
import { findUserSessions } from '../../src/flows/account/userSessions.ts';
import { findWarnings, seeWarnings, type Warnings } from '../../src/flows/account/warnings.ts';
import type { Session } from '../../src/flows/signIn/session.ts';
import { HISTORY_KINDS, WARNING_KINDS } from '../../src/store/account/history.ts';
import { reachConsent, requestOf, signIn } from '../support/flow.ts';
import { type TestUser, useServer } from '../support/server.ts';
import { signedInUser } from './signedIn.ts';

const server = await useServer({ trustProxy: 1 });
const { pool } = server.database;
const PLACE = { 'x-forwarded-for': '203.0.113.77' };

const signedIn = () => signedInUser(server, undefined, PLACE);

const find = (session: Session, cookie: string | null = null) =>
  findWarnings(server.context, session, cookie);

/** @param ago an interval of PostgreSQL */
async function note({ userId }: TestUser, kind: string, ago: string, clientId: string | null = null) {
  await pool.query(
    'insert into audit_events (at, kind, user_id, client_id, address) values (now() - $3::interval, $2, $1, $4, $5)',
    [userId, kind, ago, clientId, '203.0.113.77'],
  );
}

const kindsOf = (warnings: Warnings | null) => warnings?.events.map(({ kind }) => kind) ?? [];

/** The cookie of a browser in which these were seen. */
function see(session: Session, warnings: Warnings | null, cookie: string | null = null): string | null {
  const { newest = '', seenToken } = warnings ?? {};
  return seeWarnings(server.context, session, { newest, formToken: seenToken }, cookie);
}

describe('a user is warned', () => {
  it('of no payment password that was typed in this browser, also in an earlier session', async () => {
    const [client, { user, agent }] = [await server.createClient(), await signedIn()];
    await reachConsent(agent, requestOf(client, { scope: 'payment-shop' }), user);
    agent.cookies.delete('assent_session');
    await signIn(agent, user.login, user.password);
    expect((await agent.get('/account')).text).not.toContain('was used in another browser');
    agent.cookies.delete('assent_seen');
    expect((await agent.get('/account')).text).toContain('Your payment password was used in another browser');
  });

  it('by an event that does not tell what opens the session', async () => {
    const [client, by] = [await server.createClient(), await signedIn()];
    await reachConsent(by.agent, requestOf(client, { scope: 'payment-shop' }), by.user);
    const { rows } = await pool.query<{ detail: { session: string } }>(
      `select detail from audit_events where kind = 'payment_confirmed' and user_id = $1`,
      [by.user.userId],
    );
    const { sessions } = await findUserSessions(server.context, by.session);
    expect(rows).toEqual([{ detail: { session: sessions.find(({ isCurrent }) => isCurrent)?.sessionId } }]);
  });

  it('of alarming events of the last 30 days alone, and of no other user’s', async () => {
    const [{ user, session }, other] = [await signedIn(), await signedIn()];
    const calm = HISTORY_KINDS.filter((kind) => !(WARNING_KINDS as readonly string[]).includes(kind));
    for (const kind of calm) await note(user, kind, '1 hour');
    for (const kind of WARNING_KINDS) await note(other.user, kind, '1 hour');
    await note(user, 'replayed', '31 days');
    expect(await find(session)).toBeNull();
    await note(user, 'replayed', '29 days');
    expect(kindsOf(await find(session))).toEqual(['replayed']);
  });

  it('of three things at once, the newest first, and told that there are more', async () => {
    const { user, session } = await signedIn();
    for (const [hours, kind] of WARNING_KINDS.slice(0, 3).entries())
      await note(user, kind, `${hours + 1} hours`);
    const three = await find(session);
    expect([kindsOf(three), three?.hasMore]).toEqual([WARNING_KINDS.slice(0, 3), false]);
    await note(user, 'user_password_set', '5 hours');
    const four = await find(session);
    expect([kindsOf(four), four?.hasMore]).toEqual([WARNING_KINDS.slice(0, 3), true]);
  });

  it('of something however much of the same, and of all else, came after it', async () => {
    const { user, session } = await signedIn();
    await note(user, 'payment_confirmed', '3 hours', 'one');
    for (let n = 0; n < 20; n += 1) await note(user, 'payment_confirmed', '2 hours', 'other');
    await pool.query(
      `insert into audit_events (kind, user_id) select 'signed_in', $1 from generate_series(1, 500)`,
      [user.userId],
    );
    expect((await find(session))?.events.map(({ clientId }) => clientId)).toEqual(['other', 'one']);
  });
});

describe('what a user has seen', () => {
  it('hides nothing from another user of the browser, who sees it apart', async () => {
    const [anna, boris] = [await signedIn(), await signedIn()];
    await note(anna.user, 'replayed', '1 hour');
    await note(boris.user, 'replayed', '2 hours');
    const seen = see(anna.session, await find(anna.session));
    expect(kindsOf(await find(boris.session, seen))).toEqual(['replayed']);
    const both = see(boris.session, await find(boris.session, seen), seen);
    expect([await find(anna.session, both), await find(boris.session, both)]).toEqual([null, null]);
    expect(both).not.toContain(anna.user.userId);
  });

  it.each([
    'x',
    '0123456789abcdef-9999999999999999-0123456789abcdef', // of earlier builds
    ...['null', '{}', '["0123456789abcdef"]', '[["0123456789abcdef",{"micros":"-1","sessions":[]}]]'].map(
      (json) => Buffer.from(json).toString('base64url'),
    ),
  ])('is nothing where the cookie holds nothing of ours (%#)', async (cookie) => {
    const { user, session } = await signedIn();
    await note(user, 'replayed', '1 hour');
    expect(kindsOf(await find(session, cookie))).toEqual(['replayed']);
    expect(await find(session, see(session, await find(session), cookie))).toBeNull();
  });
});
