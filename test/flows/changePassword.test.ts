import { beforeEach, describe, expect, it } from 'vitest';
import { changePassword, findPasswordForm } from '../../src/flows/account/changePassword.ts';
import type { Context } from '../../src/flows/common/context.ts';
import type { PasswordKind } from '../../src/flows/signIn/device.ts';
import { findUser } from '../../src/store/common/users.ts';
import { trySignIn } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { removeUser, setPasswords, setUserStatus } from '../support/operators.ts';
import { doingBefore } from '../support/postgres/intercept.ts';
import { forgetTries } from '../support/postgres/rows.ts';
import { CALLER, type TestUser, useServer } from '../support/server.ts';
import { type SignedIn, signedInUser } from './signedIn.ts';

const server = await useServer();
const { pool } = server.database;
const NEW = newSecret();
type Sent = Parameters<typeof changePassword>[2];
const NO_COOKIES = { password: null, 'payment password': null };

let by: SignedIn;
beforeEach(async () => {
  by = await signedInUser(server);
});

const tokenOf = async ({ session }: SignedIn, kind: PasswordKind) =>
  (await findPasswordForm(server.context, session, kind))?.formToken;

/** Changes the password, by default from the right one to {@link NEW}. */
async function change(sent: Partial<Sent> = {}, context: Context = server.context) {
  const kind = sent.kind ?? 'password';
  const given = { kind, currentPassword: by.user.password, newPassword: NEW, deviceCookies: NO_COOKIES };
  const formToken = await tokenOf(by, kind);
  return changePassword(context, by.session, { ...given, formToken, ...sent }, CALLER);
}

async function eventsOf({ userId }: TestUser): Promise<unknown[]> {
  const events = `select kind from audit_events where user_id = $1 and kind like '%changed'`;
  return (await pool.query(events, [userId])).rows;
}

const hashesOf = async ({ login }: TestUser) => {
  const user = await findUser(pool, login);
  return user && [user.passwordHash, user.paymentPasswordHash];
};

/** Makes waits of a second longer than any test. */
const prolongWaits = () =>
  pool.query(`update throttles set free_at = free_at + interval '20 seconds' where free_at > counted_at`);

describe('a user who changes the password', () => {
  it('sees why a new password is refused, which does not count as an attempt', async () => {
    const same = { currentPassword: 'ABCDEFGH', newPassword: 'ＡＢＣＤＥＦＧＨ' };
    for (let n = 0; n < 6; n += 1) {
      const short = await change({ newPassword: 'short' });
      expect([short, await change(same)]).toMatchObject([
        { problem: 'too_short' },
        { problem: 'same_as_old' },
      ]);
    }
    expect((await change()).outcome).toBe('changed');
  });

  it.each([
    ['password', 'wait', 'password_changed'],
    ['payment password', 'right', 'payment_password_changed'],
  ] as const)(
    'is throttled after wrong entries of the old %s (result of a correct sign-in then: %j)',
    async (kind, verdict, event) => {
      const { login, password, paymentPassword } = by.user;
      const right = { kind, currentPassword: kind === 'password' ? password : (paymentPassword ?? '') };
      const before = await hashesOf(by.user);
      for (let n = 0; n < 5; n += 1)
        expect(await change({ kind, currentPassword: 'wrong' })).toEqual({ outcome: 'wrong' });
      await prolongWaits();
      expect(await change(right)).toEqual({ outcome: 'wait', waitSeconds: expect.any(Number) });
      expect(await trySignIn(new Agent(server.baseUrl), login, password)).toBe(verdict);
      expect(await hashesOf(by.user)).toEqual(before);
      await forgetTries(server.database);
      expect(await change(right)).toEqual({ outcome: 'changed', deviceCookie: expect.any(String) });
      expect(await eventsOf(by.user)).toEqual([{ kind: event }]);
    },
  );

  it('can’t guess the payment password: each new password that differs from it counts as an attempt [changePassword-1]', async () => {
    const guess = (wanted: string, old: string) => change({ newPassword: wanted, currentPassword: old });
    const right = by.user.paymentPassword ?? '';
    const same = { outcome: 'refused', problem: 'same_as_other' };
    for (let n = 0; n < 7; n += 1) expect(await guess(right, by.user.password)).toEqual(same);
    let old = by.user.password;
    for (let n = 0; n < 5; n += 1) {
      expect((await guess(`a guess, number ${n}`, old)).outcome).toBe('changed');
      old = `a guess, number ${n}`;
    }
    await prolongWaits();
    // Nothing is compared now: a guess, right or wrong, does not keep a user from changing the other password.
    expect((await guess(right, old)).outcome).toBe('changed');
    expect((await guess('a guess, the last', right)).outcome).toBe('changed');
    const kind = 'payment password';
    expect((await change({ kind, currentPassword: right })).outcome).toBe('wait');
    await forgetTries(server.database);
    expect(await guess(right, 'a guess, the last')).toEqual(same);
  });

  it('needs a form of the same session that was made since the last change', async () => {
    const elsewhere = await signedInUser(server, by.user);
    const kept = await tokenOf(by, 'password');
    for (const formToken of [await tokenOf(elsewhere, 'password'), await tokenOf(by, 'payment password')])
      expect(await change({ formToken })).toEqual({ outcome: 'stale' });
    expect((await change({ formToken: kept })).outcome).toBe('changed');
    const again = { formToken: kept, currentPassword: NEW, newPassword: `${NEW}, again` };
    expect(await change(again)).toEqual({ outcome: 'stale' });
  });
});

describe('a password change', () => {
  it('succeeds once if sent twice concurrently: the second form is out of date', async () => {
    const formToken = await tokenOf(by, 'password');
    const both = await Promise.all([change({ formToken }), change({ formToken, newPassword: `${NEW}!` })]);
    expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(['changed', 'stale']);
    expect(await eventsOf(by.user)).toHaveLength(1);
  });

  const OTHERS: Record<string, (user: TestUser) => Promise<unknown>> = {
    'a change by an operator': ({ login }) =>
      setPasswords(pool, login, { password: newSecret(), paymentPassword: null }, 'x'),
    'a block of the user': ({ login }) => setUserStatus(pool, login, 'blocked', 'x'),
    'the deletion of the user': ({ login }) => removeUser(pool, login, 'x'),
    'the end of the session': ({ userId }) => pool.query('delete from sessions where user_id = $1', [userId]),
  };

  it.each(Object.entries(OTHERS))('changes nothing if preceded by %s', async (_, first) => {
    let there: unknown;
    // The other change comes between the check of the old password and the first write.
    const db = doingBefore(pool, 'user-lock', async () => {
      await first(by.user);
      there = await hashesOf(by.user);
    });
    const context = { ...server.context, db };
    expect(await change({}, context)).toEqual({ outcome: 'stale' });
    expect(there).toBeDefined();
    expect(await hashesOf(by.user)).toEqual(there);
    expect(await eventsOf(by.user)).toEqual([]);
  });
});
