import { grantState, isLive } from '../oauth/grantState.ts';
import { findGrantsOfUser, type Grant } from '../store/grants.ts';
import { revokeGrantsOfUser } from '../store/revocations.ts';
import type { Session } from '../store/sessions.ts';
import type { Caller, Context } from './context.ts';

/** The authorizations that can act on the user's account now, newest first. */
export async function findConnections({ db }: Context, session: Session): Promise<Grant[]> {
  const grants = await findGrantsOfUser(db, session.user.userId);
  return grants.filter((grant) => isLive(grantState(grant, grant.now)));
}

/** The user takes an authorization back; its code and token are worth nothing from now on. @returns whether it was live */
export async function disconnect(
  { db }: Context,
  session: Session,
  grantId: string,
  caller: Caller,
): Promise<boolean> {
  return (await revokeGrantsOfUser(db, session.user.userId, grantId, caller)).length > 0;
}

/** Whether the user has such an authorization and it is taken back, whoever says so in a link. */
export async function isDisconnected(
  { db }: Context,
  session: Session,
  grantId: string | undefined,
): Promise<boolean> {
  if (grantId === undefined) return false;
  const grants = await findGrantsOfUser(db, session.user.userId);
  return grants.some((grant) => grant.grantId === grantId && grant.revokedAt !== null);
}
