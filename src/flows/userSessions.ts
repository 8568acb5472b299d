import type { Caller } from '../rules/caller.ts';
import {
  deleteOtherSessions,
  deleteUserSession,
  type ListedSession,
  listUserSessions,
} from '../store/userSessions.ts';
import type { Context } from './context.ts';
import type { Session } from './session.ts';
import { type Form, signForm, verifyForm } from './signedForm.ts';

/** Where a user is signed in, with the tokens of the forms that end sessions. */
export interface UserSessions {
  /** The session that asks first, then the others, the one seen last before the one seen earlier. */
  readonly sessions: readonly UserSession[];
  /** Null when there is no other session. */
  readonly endOthersToken: string | null;
}

/** A session; `endToken` is null for the one that asks, which signing out ends. */
export interface UserSession extends ListedSession {
  readonly endToken: string | null;
}

/** Every live session of the user: as many as `MAX_SESSIONS` at most. */
export async function findUserSessions(context: Context, session: Session): Promise<UserSessions> {
  const { user, sessionHash } = session;
  const listed = await listUserSessions(context.db, { userId: user.userId, sessionHash });
  const sessions = listed.map((one) => ({
    ...one,
    endToken: one.isThis ? null : signForm(context, endForm(session, one.sessionId)),
  }));
  const hasOthers = sessions.some(({ isThis }) => !isThis);
  return { sessions, endOthersToken: hasOthers ? signForm(context, endOthersForm(session)) : null };
}

/** What comes of ending sessions; also `ended` when they had ended before. */
export interface EndOutcome {
  readonly outcome: 'ended' | 'stale';
}

/** Ends one other session of the user for good. @param sent its id, and the token of its form */
export async function endSession(
  context: Context,
  session: Session,
  { sessionId, formToken }: { readonly sessionId: string; readonly formToken: string | undefined },
  caller: Caller,
): Promise<EndOutcome> {
  // The token was made for this very id, so one that fits it is one that the page listed.
  if (verifyForm(context, formToken, endForm(session, sessionId)) === null) return { outcome: 'stale' };
  const { user, sessionHash } = session;
  await deleteUserSession(context.db, { userId: user.userId, sessionHash }, sessionId, caller);
  return { outcome: 'ended' };
}

/** Ends every session of the user but this one. */
export async function endOtherSessions(
  context: Context,
  session: Session,
  formToken: string | undefined,
  caller: Caller,
): Promise<EndOutcome> {
  if (verifyForm(context, formToken, endOthersForm(session)) === null) return { outcome: 'stale' };
  await deleteOtherSessions(
    context.db,
    { userId: session.user.userId, sessionHash: session.sessionHash },
    caller,
  );
  return { outcome: 'ended' };
}

function endForm(session: Session, sessionId: string): Form {
  return { action: 'end-session', owner: session, subject: [sessionId] };
}

function endOthersForm(session: Session): Form {
  return { action: 'end-other-sessions', owner: session, subject: [] };
}
