import { describe, expect, it } from 'vitest';
import { currentSession } from '../../src/flows/signIn/session.ts';
import { signIn, signInStep } from '../../src/flows/signIn/signIn.ts';
import { sha256 } from '../../src/secrets/digest.ts';
import { BusyError } from '../../src/secrets/password.ts';
import { insertSession } from '../../src/store/common/sessions.ts';
import { findUserByLogin } from '../../src/store/common/users.ts';
import { intercept } from '../support/intercept.ts';
import { waitForLocks } from '../support/locks.ts';
import { setPasswords } from '../support/operators.ts';
import { CALLER, useServer } from '../support/server.ts';

const server = await useServer();
const { formToken, newCookie } = signInStep(server.context, null, null);
const FORM = { formToken, authorizationRequest: null };
const COOKIES = { session: null, preLogin: newCookie, device: null, seen: null };
const CHANGED = { password: 'another one', paymentPassword: null };

describe('a password that is changed while somebody signs in with the old one', () => {
  it('lets the sign-in fail when the change is first', async () => {
    const { login, password } = await server.createUser();
    const pool = server.context.db;
    /** The pool, but the password changes after it was checked and before the session is written. */
    const changing = intercept(pool, async (statement, run) => {
      if (statement.name === 'session-insert') await setPasswords(pool, login, CHANGED, 'tests');
      return run();
    });
    const context = { ...server.context, db: changing };
    expect(await signIn(context, { ...FORM, login, password }, COOKIES, CALLER)).toEqual({
      outcome: 'wrong',
    });
    const typed = { ...FORM, login, password: CHANGED.password };
    const now = await signIn(server.context, typed, COOKIES, CALLER);
    expect(now.outcome).toBe('signed_in');
  });

  it('ends the session when the sign-in is first, although the change began before that was committed', async () => {
    const { login } = await server.createUser();
    const pool = server.context.db;
    const user = await findUserByLogin(pool, login);
    const cookie = 'a cookie';
    const sessionHash = sha256(cookie);
    const signingIn = await pool.connect();
    try {
      await signingIn.query('begin');
      const session = {
        sessionHash,
        userId: user?.userId ?? '',
        passwordHash: user?.passwordHash ?? '',
        earlierHash: null,
        ...{ browser: null, system: null, network: null, knownDevice: false },
      };
      expect(await insertSession(signingIn, { ...session, ...CALLER })).toMatchObject({ valid: true });
      const changing = setPasswords(pool, login, CHANGED, 'tests');
      await waitForLocks(pool, 1);
      await signingIn.query('commit');
      expect(await changing).toBeDefined();
    } finally {
      signingIn.release();
    }
    expect(await currentSession(server.context, cookie)).toBeNull();
  });
});

it('a try that was not judged in time does not count', async () => {
  const { login } = await server.createUser();
  const wrong = { ...FORM, login, password: 'wrong' };
  for (let n = 0; n < 6; n += 1) {
    const late = { ...CALLER, decideBy: performance.now() };
    await expect(signIn(server.context, wrong, COOKIES, late)).rejects.toBeInstanceOf(BusyError);
  }
  const outcomes = [];
  for (let n = 0; n < 5; n += 1)
    outcomes.push((await signIn(server.context, wrong, COOKIES, CALLER)).outcome);
  expect(outcomes).toEqual(['wrong', 'wrong', 'wrong', 'wrong', 'wrong']);
});
