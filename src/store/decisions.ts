import { type Database, selectOne } from './database.ts';

/** Decisions that may be written at once: far more than a person reads. Then one in so many seconds. */
const MOST_OF_A_SESSION = 300;
const MOST_OF_A_USER = 1_000;
const FORGOTTEN_SECONDS = 2;

// Sessions and users count decisions alike, in columns of the same names; `t` is the table's alias. A clock that was set
// back makes them no more.
const decided = (t: string) =>
  `greatest(0, ${t}.decisions - greatest(0, extract(epoch from clock_timestamp() - ${t}.decided_at)::float8) / ${FORGOTTEN_SECONDS})`;
const mayDecide = (t: string, most: number) => `${decided(t)} < ${most}`;
/** For `update … set`: counts one. */
export const countOne = (t: string) => `decisions = ${decided(t)} + 1, decided_at = clock_timestamp()`;

/** Of `users u`, and of `sessions s`: whether one more decision may be written now. */
export const USER_MAY_DECIDE = mayDecide('u', MOST_OF_A_USER);
export const SESSION_MAY_DECIDE = mayDecide('s', MOST_OF_A_SESSION);

const count = {
  name: 'user-count-decision',
  text: `update users u set ${countOne('u')} where u.user_id = $1 and ${USER_MAY_DECIDE} returning u.user_id`,
};

/** Counts a decision of a user that is written elsewhere. @returns whether the user may make it now */
export async function countDecision(db: Database, userId: string): Promise<boolean> {
  return (await selectOne(db, count, [userId])) !== undefined;
}
