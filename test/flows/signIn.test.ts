import { describe, expect, it } from 'vitest';
import { currentSession } from '../../src/flows/signIn/session.ts';
import { signIn, signInStep } from '../../src/flows/signIn/signIn.ts';
import { OverloadedError } from '../../src/rules/common/error.ts';
import { insertSession } from '../../src/store/common/sessions.ts';
import { transaction } from '../../src/store/database/database.ts';
import { newSecret } from '../support/ledger.ts';
import { setPasswords } from '../support/operators.ts';
import { doingBefore } from '../support/postgres/intercept.ts';
import { waitForLocks } from '../support/postgres/locks.ts';
import { CALLER, useServer } from '../support/server.ts';
import { newSessionOf, type SignedIn, signedInUser } from './signedIn.ts';

const server = await useServer();
const { pool } = server.database;
const { formToken, newCookie } = signInStep(server.context, null, null);
const FORM = { formToken, authorizationRequest: null };
const COOKIES = { session: null, preLogin: newCookie, device: null, seen: null, language: null };
const password = newSecret();

const CHANGES: Record<string, (by: SignedIn) => Promise<unknown>> = {
  'the operator': ({ user }) => setPasswords(pool, user.login, { password, paymentPassword: null }, 'tests'),
  'the user': async ({ user, agent }) =>
    agent.submit(await agent.get('/oauth/account/password'), 'new_password', {
      password: user.password,
      new_password: password,
    }),
};

describe.each(Object.entries(CHANGES))('a password change by %s during a sign-in', (_who, change) => {
  it('makes the sign-in fail if the change is first', async () => {
    const by = await signedInUser(server);
    const { login } = by.user;
    // The password changes between its check and the write of the session.
    const db = doingBefore(pool, 'session-insert', () => change(by));
    const old = { ...FORM, login, password: by.user.password };
    expect(await signIn({ ...server.context, db }, old, COOKIES, CALLER)).toEqual({ outcome: 'wrong' });
    const now = await signIn(server.context, { ...old, password }, COOKIES, CALLER);
    expect(now.outcome).toBe('signed_in');
  });

  it('ends the new session if the sign-in is first, even if not committed before the change', async () => {
    const by = await signedInUser(server);
    const session = await newSessionOf(server, by.user, 'a cookie');
    const [changing] = await transaction(pool, async (signingIn) => {
      expect(await insertSession(signingIn, { ...session, ...CALLER })).toMatchObject({ valid: true });
      const changing = change(by);
      await waitForLocks(pool, 1);
      return [changing];
    });
    await changing;
    expect(await currentSession(server.context, 'a cookie')).toBeNull();
    expect(await newSessionOf(server, by.user, 'a cookie')).not.toEqual(session);
  });
});

it('a sign-in whose password could not be checked in time does not count as failed [signIn-1]', async () => {
  const { login } = await server.createUser();
  const wrong = { ...FORM, login, password: 'wrong' };
  for (let n = 0; n < 6; n += 1) {
    const late = { ...CALLER, decideBy: performance.now() };
    await expect(signIn(server.context, wrong, COOKIES, late)).rejects.toBeInstanceOf(OverloadedError);
  }
  for (let n = 0; n < 5; n += 1)
    expect(await signIn(server.context, wrong, COOKIES, CALLER)).toMatchObject({ outcome: 'wrong' });
});
