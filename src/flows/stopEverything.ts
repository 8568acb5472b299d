import type { Caller } from '../rules/caller.ts';
import { isAccountStopped } from '../store/accountGrants.ts';
import { deleteOtherSessions } from '../store/userSessions.ts';
import type { Context } from './context.ts';
import { revokeAll } from './revokeAll.ts';
import type { Session } from './session.ts';
import { type Form, signForm, verifyForm } from './signedForm.ts';

/** The token of the form that stops everything. */
export function stopToken(context: Context, session: Session): string {
  return signForm(context, stopForm(session));
}

/**
 * The user stops all that can act on the account: every other session ends, and every application is disconnected. Sessions
 * end first, so that nobody can allow anything anew meanwhile, or use up the user's decisions. Of many thousands of
 * authorizations some may be left when the caller can't wait any longer: {@link isEverythingStopped} tells.
 *
 * @returns `too_many` when the user has decided too much in a short time: then only the sessions have ended
 * @throws {TooLateError}
 */
export async function stopEverything(
  context: Context,
  session: Session,
  formToken: string | undefined,
  caller: Caller,
): Promise<{ readonly outcome: 'pressed' | 'stale' | 'too_many' }> {
  if (verifyForm(context, formToken, stopForm(session)) === null) return { outcome: 'stale' };
  const { userId } = session.user;
  await deleteOtherSessions(context.db, { userId, sessionHash: session.sessionHash }, caller);
  return { outcome: (await revokeAll(context, userId, null, caller)) ? 'pressed' : 'too_many' };
}

/** Whether nothing can act on the user's account any more but this browser. */
export function isEverythingStopped({ db }: Context, { user, sessionHash }: Session): Promise<boolean> {
  return isAccountStopped(db, user.userId, sessionHash);
}

function stopForm(session: Session): Form {
  return { action: 'stop-everything', owner: session, subject: [] };
}
