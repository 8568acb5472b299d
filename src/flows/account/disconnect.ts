import type { Caller } from '../../rules/common/caller.ts';
import { countStoppedAccount } from '../../store/account/accountGrants.ts';
import { deleteOtherSessions } from '../../store/account/userSessions.ts';
import { tryCountDecision } from '../../store/common/decisions.ts';
import { revokeGrantOfUser, revokeGrantsOfUser } from '../../store/token/revocations.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import type { Session } from '../signIn/session.ts';

/** One authorization, by its grant id, or all of an application, by its client id. */
interface SentDisconnection {
  readonly action: 'disconnect' | 'disconnect-all';
  readonly id: string;
  readonly formToken: string | undefined;
}

/** Revokes an authorization, or all of an application: some may be left at the deadline. `too_many`: decided too fast. */
export async function disconnect(
  context: Context,
  session: Session,
  { action, id, formToken }: SentDisconnection,
  caller: Caller,
): Promise<'disconnected' | 'stale' | 'too_many'> {
  // The token binds this id, so only an authorization listed on the page fits.
  if (verifyForm(context, formToken, bindForm(action, session, id)) === null) return 'stale';
  const { userId } = session.user;
  if (action === 'disconnect') {
    await revokeGrantOfUser(context.db, { userId, grantId: id, ...caller });
    return 'disconnected';
  }
  return (await revokeGrantsInBatches(context, userId, id, caller)) ? 'disconnected' : 'too_many';
}

/**
 * Revokes all authorizations of one application (null: of every one) in batches until the caller's deadline.
 * @returns false if the user has decided too often in a short time: this may read all grants ever made
 * @throws {OverloadedError} if even the first batch is too late
 */
export async function revokeGrantsInBatches(
  { db }: Context,
  userId: string,
  clientId: string | null,
  caller: Caller,
) {
  if (!(await tryCountDecision(db, userId))) return false;
  let hasMore: boolean;
  do {
    hasMore = await revokeGrantsOfUser(db, { userId, clientId, ...caller });
  } while (hasMore && performance.now() < caller.decideBy);
  return true;
}

export function createStopToken(context: Context, session: Session): string {
  return signForm(context, bindForm('stop-everything', session));
}

/**
 * Ends every other session first, so that none allows anything meanwhile, then disconnects every application. Some of many
 * thousands may be left at the deadline: {@link isEverythingStopped} tells. @throws {OverloadedError}
 * @returns `too_many` if the user has decided too often in a short time: then only the sessions have ended
 */
export async function stopEverything(
  context: Context,
  session: Session,
  formToken: string | undefined,
  caller: Caller,
): Promise<'pressed' | 'stale' | 'too_many'> {
  if (verifyForm(context, formToken, bindForm('stop-everything', session)) === null) return 'stale';
  const { sessionHash, user } = session;
  await deleteOtherSessions(context.db, { userId: user.userId, sessionHash, sessionId: null, ...caller });
  return (await revokeGrantsInBatches(context, user.userId, null, caller)) ? 'pressed' : 'too_many';
}

/** True if only this browser can act on the user's account. */
export async function isEverythingStopped({ db }: Context, { user, sessionHash }: Session): Promise<boolean> {
  return (await countStoppedAccount(db, { userId: user.userId, sessionHash })) > 0;
}
