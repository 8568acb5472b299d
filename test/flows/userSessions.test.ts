import { describe, expect, it } from 'vitest';
import { endSession, findUserSessions } from '../../src/flows/account/userSessions.ts';
import { isSignedIn, signedIn as signIn } from '../support/account.ts';
import { CALLER, type TestUser, useServer } from '../support/server.ts';
import { type SignedIn, signedInUser } from './signedIn.ts';

const server = await useServer({ trustProxy: 1 });
const { pool } = server.database;

const signedIn = (user: TestUser) => signedInUser(server, user);
const list = ({ session }: SignedIn) => findUserSessions(server.context, session);
const lives = ({ agent }: SignedIn) => isSignedIn(agent);

/** Ends a session, or all others if its id is null. */
const end = ({ session }: SignedIn, sessionId: string | null = null, formToken: string | null = null) =>
  endSession(server.context, session, { sessionId, formToken: formToken ?? undefined }, CALLER);

describe('the sessions of a user', () => {
  it('are not listed once they have expired', async () => {
    const user = await server.createUser();
    const [idle, old, here] = [await signedIn(user), await signedIn(user), await signedIn(user)];
    const age = ({ session }: SignedIn, change: string) =>
      pool.query(`update sessions set ${change} where session_hash = $1`, [session.sessionHash]);
    await age(idle, `seen_at = now() - interval '31 minutes'`);
    await age(old, `created_at = now() - interval '13 hours'`);
    const { sessions, endOthersToken } = await list(here);
    expect([sessions.length, endOthersToken]).toEqual([1, null]);
  });

  it('end without a deadlock by concurrent requests and during a sign-in of the same user', async () => {
    const user = await server.createUser();
    const here = await signedIn(user);
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([1, 2, 3].map(() => signedIn(user)));
      const { endOthersToken } = await list(here);
      const ends = [1, 2, 3].map(() => end(here, null, endOthersToken));
      expect(await Promise.all([...ends, signIn(server, user)])).toHaveLength(4);
    }
    expect(await lives(here)).toBe(true);
  });
});
