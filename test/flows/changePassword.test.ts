import { describe, expect, it } from 'vitest';
import {
  changePassword,
  findPasswordForm,
  type SentPasswordChange,
} from '../../src/flows/account/changePassword.ts';
import type { Context } from '../../src/flows/common/context.ts';
import { type Guarded, knownDevice } from '../../src/flows/signIn/device.ts';
import { currentSession, type Session } from '../../src/flows/signIn/session.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { insertSession } from '../../src/store/common/sessions.ts';
import { findUserByLogin } from '../../src/store/common/users.ts';
import { TooLateError } from '../../src/store/database/errors.ts';
import { sessionOf } from '../support/account.ts';
import { Agent } from '../support/agent.ts';
import { decide, reachConsent, requestOf, signIn } from '../support/flow.ts';
import { intercept } from '../support/intercept.ts';
import { waitForLocks, whileHeld } from '../support/locks.ts';
import { removeUser, setPasswords, setUserStatus } from '../support/operators.ts';
import { forgetTries } from '../support/rows.ts';
import { CALLER, type TestUser, useServer } from '../support/server.ts';

const server = await useServer();
const { pool } = server.database;
const NEW = 'a new one for the tests';
const NO_COOKIES = { password: null, 'payment password': null };

interface SignedIn {
  readonly user: TestUser;
  readonly agent: Agent;
  readonly cookie: string;
  readonly session: Session;
}

async function signedIn(user?: TestUser): Promise<SignedIn> {
  const who = user ?? (await server.createUser());
  const agent = new Agent(server.baseUrl);
  await signIn(agent, who.login, who.password);
  const cookie = agent.cookies.get('assent_session') ?? '';
  return { user: who, agent, cookie, session: await sessionOf(server, agent) };
}

const lives = async ({ cookie }: SignedIn) => (await currentSession(server.context, cookie)) !== null;

async function tokenOf({ session }: SignedIn, kind: Guarded): Promise<string> {
  const form = await findPasswordForm(server.context, session, kind);
  if (form === null) throw new Error('the user is gone');
  return form.formToken;
}

/** Changes the password, from the right one to {@link NEW} unless said otherwise. */
async function change(
  by: SignedIn,
  sent: Partial<SentPasswordChange> = {},
  context: Context = server.context,
) {
  const kind = sent.kind ?? 'password';
  const given = { kind, currentPassword: by.user.password, newPassword: NEW, deviceCookies: NO_COOKIES };
  const formToken = await tokenOf(by, kind);
  return changePassword(context, by.session, { ...given, formToken, ...sent }, CALLER);
}

async function eventsOf({ userId }: TestUser): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select kind, address, reference from audit_events where user_id = $1 and kind like '%changed' order by at`,
    [userId],
  );
  return rows;
}

const hashesOf = async ({ login }: TestUser) => {
  const user = await findUserByLogin(pool, login);
  return user && [user.passwordHash, user.paymentPasswordHash];
};

async function signsIn({ login }: TestUser, password: string): Promise<boolean> {
  return (await signIn(new Agent(server.baseUrl), login, password)).status === 303;
}

/** Waits of a second become longer than any test. */
async function prolongWaits(): Promise<void> {
  await pool.query(
    `update throttles set free_at = free_at + interval '20 seconds' where free_at > counted_at`,
  );
}

describe('a user who changes the password', () => {
  it('is known in this browser with the new one, and in no other any more', async () => {
    const by = await signedIn();
    const before = by.agent.cookies.get('assent_device') ?? null;
    const result = await change(by, { deviceCookies: { ...NO_COOKIES, password: before } });
    const now = result.outcome === 'changed' ? result.deviceCookie : null;
    const findHash = async () => (await hashesOf(by.user))?.[0] ?? null;
    const device = (cookie: string | null) =>
      knownDevice(server.context, 'password', by.user.login, cookie, findHash);
    expect([await device(before), await device(now)]).toEqual([null, expect.any(String)]);
  });

  it('is told why the new one can’t be taken, and that counts as no attempt', async () => {
    const by = await signedIn();
    const refused = async (changed: string, old = by.user.password) =>
      change(by, { newPassword: changed, currentPassword: old });
    for (let n = 0; n < 3; n += 1) {
      for (const [changed, problem] of [
        ['short', 'too_short'],
        ['', 'too_short'],
        ['x'.repeat(1001), 'too_long'],
        ['with a \u0007 bell', 'control_characters'],
        [by.user.password, 'same_as_old'],
      ] as const) {
        expect(await refused(changed)).toEqual({ outcome: 'refused', problem });
      }
      expect(await refused('ＡＢＣＤＥＦＧＨ', 'ABCDEFGH')).toEqual({
        outcome: 'refused',
        problem: 'same_as_old',
      });
    }
    expect((await change(by)).outcome).toBe('changed');
  });

  it('has to wait after wrong old ones as at sign-in, which waits with them', async () => {
    const by = await signedIn();
    const before = await hashesOf(by.user);
    for (let n = 0; n < 5; n += 1)
      expect(await change(by, { currentPassword: 'wrong' })).toEqual({ outcome: 'wrong' });
    await prolongWaits();
    expect(await change(by)).toEqual({ outcome: 'wait', waitSeconds: expect.any(Number) });
    expect((await signIn(new Agent(server.baseUrl), by.user.login, by.user.password)).status).toBe(429);
    expect(await hashesOf(by.user)).toEqual(before);
    await forgetTries(server.database);
  });

  it('is no way to guess the payment password: each new one that is not that one counts as an attempt at it', async () => {
    const by = await signedIn();
    const guess = (wanted: string, old: string) => change(by, { newPassword: wanted, currentPassword: old });
    const right = by.user.paymentPassword ?? '';
    const same = { outcome: 'refused', problem: 'same_as_payment_password' };
    for (let n = 0; n < 7; n += 1) expect(await guess(right, by.user.password)).toEqual(same);
    let old = by.user.password;
    for (let n = 0; n < 5; n += 1) {
      expect((await guess(`a guess, number ${n}`, old)).outcome).toBe('changed');
      old = `a guess, number ${n}`;
    }
    await prolongWaits();
    // Nothing is compared now, so that whoever guesses at it keeps nobody from changing the other: right and wrong are alike.
    expect((await guess(right, old)).outcome).toBe('changed');
    expect((await guess('a guess, the last', right)).outcome).toBe('changed');
    const kind = 'payment password';
    expect((await change(by, { kind, currentPassword: right })).outcome).toBe('wait');
    await forgetTries(server.database);
    expect(await guess(right, 'a guess, the last')).toEqual(same);
  });

  it('needs the form that was made for it, in this session, since the last change', async () => {
    const [by, other] = [await signedIn(), await signedIn()];
    const elsewhere = await signedIn(by.user);
    const kept = await tokenOf(by, 'password');
    const tokens = [
      undefined,
      await tokenOf(elsewhere, 'password'),
      await tokenOf(other, 'password'),
      await tokenOf(by, 'payment password'),
    ];
    for (const formToken of tokens) {
      expect(await change(by, { formToken } as Partial<SentPasswordChange>)).toEqual({ outcome: 'stale' });
    }
    expect((await change(by, { formToken: kept })).outcome).toBe('changed');
    expect(await change(by, { formToken: kept, currentPassword: NEW, newPassword: `${NEW}, again` })).toEqual(
      {
        outcome: 'stale',
      },
    );
  });
});

describe('a user who changes the payment password', () => {
  it('is asked for the old one, whose attempts are counted apart, and pays with the new one', async () => {
    const by = await signedIn();
    const second = await signedIn(by.user);
    const kind = 'payment password';
    expect((await findPasswordForm(server.context, by.session, 'password'))?.currentKind).toBe('password');
    expect((await findPasswordForm(server.context, by.session, kind))?.currentKind).toBe(kind);
    for (let n = 0; n < 5; n += 1) expect(await change(by, { kind })).toEqual({ outcome: 'wrong' });
    await prolongWaits();
    expect((await change(by, { kind })).outcome).toBe('wait');
    await forgetTries(server.database);
    const result = await change(by, { kind, currentPassword: by.user.paymentPassword ?? '' });
    expect(result).toEqual({ outcome: 'changed', deviceCookie: expect.any(String) });
    expect(await Promise.all([by, second].map(lives))).toEqual([true, false]);
    expect(await eventsOf(by.user)).toMatchObject([{ kind: 'payment_password_changed' }]);
    const request = requestOf(await server.createClient(), { scope: 'payment-shop' });
    const payer = { ...by.user, paymentPassword: NEW };
    const answer = await decide(by.agent, await reachConsent(by.agent, request, payer), 'allow');
    expect(answer.location).toContain('code=');
    expect(await signsIn(by.user, by.user.password)).toBe(true);
  });
});

describe('a change of a password that meets another', () => {
  /** The server, but `first` is done after the old password was checked and before anything is written. */
  const after = (first: () => Promise<unknown>): Context => {
    const db = intercept(pool, async (statement, run) => {
      if (statement.name === 'user-lock') await first();
      return run();
    });
    return { ...server.context, db };
  };

  it('twice at once is one change: the second finds its form out of date', async () => {
    const by = await signedIn();
    const formToken = await tokenOf(by, 'password');
    const both = await Promise.all([
      change(by, { formToken }),
      change(by, { formToken, newPassword: `${NEW}!` }),
    ]);
    expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(['changed', 'stale']);
    expect(await eventsOf(by.user)).toHaveLength(1);
  });

  it.each<[string, (user: TestUser) => Promise<unknown>]>([
    [
      'by an operator',
      ({ login }) => setPasswords(pool, login, { password: 'theirs now', paymentPassword: null }, 'x'),
    ],
    ['a block', ({ login }) => setUserStatus(pool, login, 'blocked', 'x')],
    ['the end of the user', ({ login }) => removeUser(pool, login, 'x')],
    [
      'the end of the session',
      ({ userId }) => pool.query('delete from sessions where user_id = $1', [userId]),
    ],
  ])('%s does nothing', async (_, first) => {
    const by = await signedIn();
    let there: unknown;
    const context = after(async () => {
      await first(by.user);
      there = await hashesOf(by.user);
    });
    expect(await change(by, {}, context)).toEqual({ outcome: 'stale' });
    expect(there).toBeDefined();
    expect(await hashesOf(by.user)).toEqual(there);
    expect(await eventsOf(by.user)).toEqual([]);
  });

  it('ends the session of a sign-in by the old one that was first, although that is committed later', async () => {
    const by = await signedIn();
    const stored = await findUserByLogin(pool, by.user.login);
    const origin = { browser: null, system: null, network: null, knownDevice: false };
    const sessionHash = sha256('a cookie');
    const given = {
      sessionHash,
      userId: by.user.userId,
      passwordHash: stored?.passwordHash ?? '',
      earlierHash: null,
    };
    const signingIn = await pool.connect();
    try {
      await signingIn.query('begin');
      const signedIn = await insertSession(signingIn, { ...given, ...origin, ...CALLER });
      expect(signedIn.valid).toBe(true);
      const changing = change(by);
      await waitForLocks(pool, 1);
      await signingIn.query('commit');
      expect((await changing).outcome).toBe('changed');
    } finally {
      signingIn.release();
    }
    expect(await currentSession(server.context, 'a cookie')).toBeNull();
  });
});

it('a change that gets its lock too late does nothing', async () => {
  const by = await signedIn();
  const before = await hashesOf(by.user);
  const sent = {
    ...({
      kind: 'password',
      currentPassword: by.user.password,
      newPassword: NEW,
      deviceCookies: NO_COOKIES,
    } as const),
    formToken: await tokenOf(by, 'password'),
  };
  const lock = 'select from users where user_id = $1 for update';
  const refused = await whileHeld(pool, lock, [by.user.userId], async () => {
    const decideBy = performance.now() + 1_500;
    const changing = changePassword(server.context, by.session, sent, { ...CALLER, decideBy });
    const refused = expect(changing).rejects.toBeInstanceOf(TooLateError);
    await waitForLocks(pool, 1);
    await expect.poll(() => performance.now() > decideBy, { interval: 10, timeout: 3_000 }).toBe(true);
    return [refused];
  });
  await refused[0];
  expect([await hashesOf(by.user), await eventsOf(by.user)]).toEqual([before, []]);
});
