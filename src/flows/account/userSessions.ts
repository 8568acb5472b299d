import type { RequestMeta } from '../../rules/common/caller.ts';
import {
  deleteOtherSessions,
  deleteUserSession,
  listUserSessions,
} from '../../store/account/userSessions.ts';
import type { Context } from '../common/context.ts';
import { type Form, signForm, verifyForm } from '../common/signedForm.ts';
import type { Session } from '../signIn/session.ts';

/** A session; `endToken` is null for the one that asks, which signing out ends. */
export type UserSession = Awaited<ReturnType<typeof findUserSessions>>['sessions'][number];

/** Every live session of the user, this one first; without another one `endOthersToken` is null. */
export async function findUserSessions(context: Context, session: Session) {
  const { user, sessionHash } = session;
  const listed = await listUserSessions(context.db, { userId: user.userId, sessionHash });
  const sessions = listed.map((one) => ({
    ...one,
    endToken: one.isCurrent ? null : signForm(context, endForm(session, one.sessionId)),
  }));
  const hasOthers = sessions.some(({ isCurrent }) => !isCurrent);
  return { sessions, endOthersToken: hasOthers ? signForm(context, endForm(session, null)) : null };
}

/** Ends one other session of the user for good, or all others where `sessionId` is null. Done also where none was left. */
export async function endSession(
  context: Context,
  session: Session,
  { sessionId, formToken }: { readonly sessionId: string | null; readonly formToken: string | undefined },
  request: RequestMeta,
): Promise<{ readonly outcome: 'ended' | 'stale' }> {
  // The token was made for this very id, so one that fits it is one that the page listed.
  if (verifyForm(context, formToken, endForm(session, sessionId)) === null) return { outcome: 'stale' };
  const own = { userId: session.user.userId, sessionHash: session.sessionHash };
  if (sessionId === null) await deleteOtherSessions(context.db, { ...own, ...request });
  else await deleteUserSession(context.db, { ...own, sessionId, ...request });
  return { outcome: 'ended' };
}

function endForm(owner: Session, sessionId: string | null): Form {
  return { action: 'end-sessions', owner, subject: [sessionId] };
}
