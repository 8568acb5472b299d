import type { Caller } from '../rules/caller.ts';
import { isAccountStopped } from '../store/accountGrants.ts';
import { countDecision } from '../store/decisions.ts';
import { revokeGrantsOfUser } from '../store/revocations.ts';
import { deleteOtherSessions } from '../store/userSessions.ts';
import type { Context } from './context.ts';
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
  const { db } = context;
  const { userId } = session.user;
  await deleteOtherSessions(db, { userId, sessionHash: session.sessionHash }, caller);
  if (!(await countDecision(db, userId))) return { outcome: 'too_many' };
  let hasMore = true;
  while (hasMore && performance.now() < caller.decideBy) {
    hasMore = await revokeGrantsOfUser(db, userId, null, caller);
  }
  return { outcome: 'pressed' };
}

/** Whether nothing can act on the user's account any more but this browser. */
export function isEverythingStopped({ db }: Context, { user, sessionHash }: Session): Promise<boolean> {
  return isAccountStopped(db, user.userId, sessionHash);
}

function stopForm(session: Session): Form {
  return { action: 'stop-everything', owner: session, subject: [] };
}
