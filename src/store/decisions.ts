import { DECISION_DECAY_SECONDS, MAX_DECISIONS } from '../rules/limits.ts';
import type { Database } from './database.ts';
import { execute } from './query.ts';
import { statement } from './statement.ts';

/** Of `users u`: how many still count. A clock that was set back makes them no more. */
const DECISIONS = `greatest(0, u.decisions - greatest(0, extract(epoch from clock_timestamp() - u.decided_at)::float8) / ${DECISION_DECAY_SECONDS})`;

/** Of `users u`: whether one more may be written now. */
export const MAY_DECIDE = `${DECISIONS} < ${MAX_DECISIONS}`;

/** For `update users u set`: counts one. It locks the user, too. */
export const COUNT_DECISION = `decisions = ${DECISIONS} + 1, decided_at = clock_timestamp()`;

const count = statement(
  'user-count-decision',
  ['userId'],
  `update users u set ${COUNT_DECISION} where u.user_id = @userId and ${MAY_DECIDE}`,
);

/** Counts a decision of a user that is written elsewhere. @returns whether the user may make it now */
export async function countDecision(db: Database, userId: string): Promise<boolean> {
  return (await execute(db, count({ userId }))) > 0;
}
