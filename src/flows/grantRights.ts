import { parseScope, type Right } from '../rules/scope.ts';
import type { Grant } from '../store/grants.ts';

/**
 * The rights of a grant, by the grammar alone: a later rule for requests does not take back what a user allowed. The scope
 * was parsed before it was stored, so one that can't be parsed is a fault of ours.
 *
 * @throws {Error} naming the client
 */
export function rightsOf({ clientId, scope }: Pick<Grant, 'clientId' | 'scope'>): Right[] {
  try {
    return parseScope(scope);
  } catch (cause) {
    throw new Error(`grants: the scope of a grant to ${clientId} can't be read`, { cause });
  }
}
