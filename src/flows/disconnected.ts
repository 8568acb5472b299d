import { isUuid } from '../secrets/uuid.ts';
import { type Disconnected, findDisconnectedClient, findDisconnectedGrant } from '../store/accountGrants.ts';
import type { Session } from '../store/sessions.ts';
import type { Context } from './context.ts';

/** What was disconnected: one authorization, or all of an application. */
export interface DisconnectedAccess extends Disconnected {
  readonly what: 'connection' | 'application';
}

/**
 * What the link that follows a disconnection names, as long as it is so: an authorization of this very user that is
 * revoked, or an application of which nothing is live.
 *
 * @returns null for anything else, be it connected anew, deleted or somebody else's
 */
export async function findDisconnected(
  { db }: Context,
  { user: { userId } }: Session,
  { grantId, clientId }: { readonly grantId: string | undefined; readonly clientId: string | undefined },
): Promise<DisconnectedAccess | null> {
  if (grantId !== undefined) {
    const found = isUuid(grantId) ? await findDisconnectedGrant(db, userId, grantId) : null;
    return found && { ...found, what: 'connection' };
  }
  const found = clientId === undefined ? null : await findDisconnectedClient(db, userId, clientId);
  return found?.live === 0 ? { ...found, what: 'application' } : null;
}
