import type { Caller } from '../../rules/common/caller.ts';
import { DECISION_DECAY_SECONDS, MAX_DECISIONS } from '../../rules/common/limits.ts';
import type { Digest } from '../../secrets/digest.ts';
import { emit } from '../../signals/events.ts';
import type { Database } from '../database/database.ts';
import { write } from '../database/query.ts';
import type { Grant } from './grants.ts';

/** Stored for every decision, Allow or Reject. */
export interface Decision
  extends Caller,
    Pick<Grant, 'grantId' | 'userId' | 'clientId' | 'instanceName' | 'scope'> {
  /** The limits of the scope, as JSON: for the audit trail, independent of later rules. */
  readonly limits: string;
  /** The hash of the code for Allow. */
  readonly codeHash: Digest;
  readonly sessionHash: Digest;
  /** Identifies the consent page: it is answered once. */
  readonly page: Digest;
}

/** Verdicts on either decision: the session is over, the user has decided too often in a short time. */
export type DecisionVerdict = 'ended' | 'too_many';

/** For `users u`: the decisions that still count. Setting the clock back doesn't increase them. */
const DECISIONS = `greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / ${DECISION_DECAY_SECONDS})`;

/** For `users u`: true if another decision may be written now. */
export const IS_BELOW_DECISION_LIMIT = `${DECISIONS} < ${MAX_DECISIONS}`;

/** For `update users u set`: counts one. It also locks the user. */
export const COUNT_DECISION = `decisions = ${DECISIONS} + 1, decided_at = clock_timestamp()`;

const count = write<{ userId: string }>('user-count-decision')`
  update users u set ${COUNT_DECISION} where u.user_id = @userId and ${IS_BELOW_DECISION_LIMIT}`;

/** Counts a decision written elsewhere. @returns true if the user may make it now */
export async function tryCountDecision(db: Database, userId: string): Promise<boolean> {
  const mayDecide = (await count(db, { userId })) > 0;
  if (!mayDecide) emit('throttle', 'decisions');
  return mayDecide;
}
