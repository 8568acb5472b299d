import { parseScope, type Right } from '../rules/scope.ts';
import type { Grant } from '../store/grants.ts';

/**
 * The rights of a grant, by the grammar alone: a rule for requests that came later does not take back what a user
 * allowed. Its scope was read before it was stored, so one that can't be read is a fault of ours and never the
 * application's.
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
