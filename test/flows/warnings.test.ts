import { describe, expect, it } from 'vitest';
import { findWarnings, seeWarnings, type Warnings } from '../../src/flows/account/warnings.ts';
import type { Session } from '../../src/flows/signIn/session.ts';
import { HISTORY_KINDS, WARNING_KINDS } from '../../src/store/account/history.ts';
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
    `insert into audit_events (at, kind, user_id, client_id, address, detail)
     values (now() - $3::interval, $2, $1, $4, $5, '{"session": "another"}')`,
    [userId, kind, ago, clientId, '203.0.113.77'],
  );
}

const allOf = (found: Warnings | null) =>
  [found?.first, found?.others].flatMap((part) => part?.warnings ?? []);
const kindsOf = (found: Warnings | null) => allOf(found).map(({ kind }) => kind);

/** Dismisses the first of these warnings, or the others. @returns the new cookie of the browser */
function see(
  session: Session,
  warnings: Warnings | null,
  cookie: string | null = null,
  what: 'first' | 'others' = 'first',
) {
  const { answered = '', seenToken } = warnings?.[what] ?? {};
  return seeWarnings(server.context, session, { answered, formToken: seenToken }, cookie);
}

describe('the warnings for a user', () => {
  it('include only alarming events of the last weeks, and none of other users', async () => {
    const [{ user, session }, other] = [await signedIn(), await signedIn()];
    const calm = HISTORY_KINDS.filter((kind) => !(WARNING_KINDS as readonly string[]).includes(kind));
    for (const kind of calm) await note(user, kind, '1 hour');
    for (const kind of WARNING_KINDS) await note(other.user, kind, '1 hour');
    await note(user, 'replayed', '31 days');
    expect(await find(session)).toBeNull();
    await note(user, 'replayed', '29 days');
    expect(kindsOf(await find(session))).toEqual(['replayed']);
  });

  it('begin with events that required a password, even if other events are newer', async () => {
    const { user, session } = await signedIn();
    await note(user, 'password_guessed', '1 hour');
    await note(user, 'approved', '2 hours');
    expect(kindsOf(await find(session))).toEqual(['payment_confirmed', 'password_guessed']);
  });
});

describe('dismissing warnings', () => {
  it('hides exactly the warnings on the submitted form', async () => {
    const { user, session } = await signedIn();
    for (const [hours, client] of ['a', 'b', 'c'].entries())
      await note(user, 'replayed', `${hours + 2} hours`, client);
    const page = await find(session);
    await note(user, 'replayed', '1 hour', 'd');
    const ids = async (cookie: string | null) =>
      allOf(await find(session, cookie)).map(({ clientId }) => clientId);
    const first = await see(session, page);
    expect(await ids(first)).toEqual(['d', 'b', 'c']);
    const all = await see(session, page, first, 'others');
    expect(await ids(all)).toEqual(['d']);
    // One more of the same: only that is shown.
    await note(user, 'replayed', '30 minutes', 'a');
    expect(allOf(await find(session, all)).map(({ clientId, times }) => [clientId, times])).toEqual([
      ['a', 1],
      ['d', 1],
    ]);
  });

  it('does not hide an event that is committed after the form was submitted', async () => {
    const { user, session } = await signedIn();
    await note(user, 'replayed', '1 hour');
    const page = await find(session);
    const late = await pool.connect();
    await late.query('begin');
    await late.query(
      `insert into audit_events (kind, user_id, client_id, address, detail)
       values ('approved', $1, 'late', '203.0.113.9', '{"session": "another"}')`,
      [user.userId],
    );
    const cookie = await see({ ...session, now: new Date(Date.now() + 50) }, page);
    await late.query('commit');
    late.release();
    expect(kindsOf(await find(session, cookie))).toContain('payment_confirmed');
  });

  it('stores many dismissed warnings in one cookie, even of several users', async () => {
    const [others, { user, session }] = [[await signedIn(), await signedIn()], await signedIn()];
    const noteMany = (of: TestUser) =>
      pool.query(
        `insert into audit_events (at, kind, user_id, client_id, address)
         select now() - n * interval '1 hour', 'replayed', $1, n::text, '203.0.113.77' from generate_series(1, 35) n`,
        [of.userId],
      );
    let cookie: string | null = null;
    for (const other of others) {
      await noteMany(other.user);
      cookie = await see(other.session, await find(other.session, cookie), cookie, 'others');
    }
    await noteMany(user);
    for (let page = await find(session, cookie); page !== null; page = await find(session, cookie)) {
      if (page.others !== null) cookie = await see(session, page, cookie, 'others');
      cookie = await see(session, page, cookie);
      expect(cookie?.length).toBeLessThan(4_000);
    }
    expect(await find(session, cookie)).toBeNull();
  });

  it('hides nothing from another user of the browser', async () => {
    const [anna, boris] = [await signedIn(), await signedIn()];
    await note(anna.user, 'replayed', '1 hour');
    await note(boris.user, 'replayed', '2 hours');
    const seen = await see(anna.session, await find(anna.session));
    expect(kindsOf(await find(boris.session, seen))).toEqual(['replayed']);
    const both = await see(boris.session, await find(boris.session, seen), seen);
    expect([await find(anna.session, both), await find(boris.session, both)]).toEqual([null, null]);
    expect(both).not.toContain(anna.user.userId);
  });

  it.each([
    'x',
    '0123456789abcdef-9999999999999999-0123456789abcdef', // of earlier builds
    ...['null', '{}', '["0123456789abcdef"]', '[["0123456789abcdef",{"micros":"-1","sessions":[]}]]'].map(
      (json) => Buffer.from(json).toString('base64url'),
    ),
  ])('ignores a forged or outdated cookie: %j', async (cookie) => {
    const { user, session } = await signedIn();
    await note(user, 'replayed', '1 hour');
    expect(kindsOf(await find(session, cookie))).toEqual(['replayed']);
    expect(await find(session, await see(session, await find(session), cookie))).toBeNull();
  });
});
