import type { Caller } from '../../rules/common/caller.ts';
import { DECISION_DECAY_SECONDS, MAX_DECISIONS } from '../../rules/common/limits.ts';
import type { Digest } from '../../secrets/digest.ts';
import { tell } from '../../signals/happenings.ts';
import type { Database } from '../database/database.ts';
import { write } from '../database/query.ts';

/** Stored of every decision, to allow or to reject. */
export interface Decision {
  readonly grantId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly instanceName: string | null;
  readonly scope: string;
  /** The limits of the scope, as JSON: for the audit trail, whatever the rules say later. */
  readonly limits: string;
  /** Of the code that allowing gives. */
  readonly codeHash: Digest;
  readonly sessionHash: Digest;
  readonly formExpiresAt: Date;
  readonly caller: Caller;
}

/** Of `users u`: how many decisions still count. A clock that was set back makes them no more. */
const DECISIONS = `greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / ${DECISION_DECAY_SECONDS})`;

/** Of `users u`: whether one more may be written now. */
export const MAY_DECIDE = `${DECISIONS} < ${MAX_DECISIONS}`;

/** For `update users u set`: counts one. It locks the user, too. */
export const COUNT_DECISION = `decisions = ${DECISIONS} + 1, decided_at = clock_timestamp()`;

const count = write<{ userId: string }>(
  'user-count-decision',
  `update users u set ${COUNT_DECISION} where u.user_id = @userId and ${MAY_DECIDE}`,
);

/** Counts a decision that is written elsewhere. @returns whether the user may make it now */
export async function countDecision(db: Database, userId: string): Promise<boolean> {
  const mayDecide = (await count(db, { userId })) > 0;
  if (!mayDecide) tell('throttle', 'decisions');
  return mayDecide;
}
