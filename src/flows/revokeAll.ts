import type { Caller } from '../rules/caller.ts';
import { countDecision } from '../store/decisions.ts';
import { revokeGrantsOfUser } from '../store/revocations.ts';
import type { Context } from './context.ts';

/**
 * Revokes all that the user allowed an application, or every application, batch by batch until the caller can't wait any longer.
 *
 * @param clientId null for every application
 * @returns false when the user has decided too much in a short time: this may look through all that was ever allowed
 * @throws {TooLateError} when not even the first batch came in time
 */
export async function revokeAll(
  { db }: Context,
  userId: string,
  clientId: string | null,
  caller: Caller,
): Promise<boolean> {
  if (!(await countDecision(db, userId))) return false;
  let hasMore: boolean;
  do {
    hasMore = await revokeGrantsOfUser(db, userId, clientId, caller);
  } while (hasMore && performance.now() < caller.decideBy);
  return true;
}
