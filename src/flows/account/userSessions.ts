import type { RequestMeta } from '../../rules/common/caller.ts';
import { deleteOtherSessions, listUserSessions } from '../../store/account/userSessions.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import type { Session } from '../signIn/session.ts';

/** A session; `endToken` is null for the current one, which signing out ends. */
export type UserSession = Awaited<ReturnType<typeof findUserSessions>>['sessions'][number];

/** Every live session of the user, this one first; `endOthersToken` is null if it is the only one. */
export async function findUserSessions(context: Context, session: Session) {
  const { user, sessionHash } = session;
  const listed = await listUserSessions(context.db, { userId: user.userId, sessionHash });
  const tokenFor = (id: string | null) => signForm(context, bindForm('end-sessions', session, id));
  const sessions = listed.map((one) => ({
    ...one,
    endToken: one.isCurrent ? null : tokenFor(one.sessionId),
  }));
  const hasOthers = sessions.some(({ isCurrent }) => !isCurrent);
  return { sessions, endOthersToken: hasOthers ? tokenFor(null) : null };
}

/** Ends one other session of the user, or all others if `sessionId` is null. Succeeds even if none was left. */
export async function endSession(
  context: Context,
  session: Session,
  { sessionId, formToken }: { readonly sessionId: string | null; readonly formToken: string | undefined },
  request: RequestMeta,
): Promise<'ended' | 'stale'> {
  // The token binds this id, so only a session listed on the page fits.
  if (verifyForm(context, formToken, bindForm('end-sessions', session, sessionId)) === null) return 'stale';
  const { user, sessionHash } = session;
  await deleteOtherSessions(context.db, { userId: user.userId, sessionHash, sessionId, ...request });
  return 'ended';
}
