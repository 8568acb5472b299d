/**
 * What is asked for is decided within this time of being read, or not at all: see `decide` in `store/database.ts`.
 */
export const DECISION_MS = 4_500;

/**
 * Everything that is asked is answered within this time, however many things it waits for. What it is longer than
 * {@link DECISION_MS} is for one more wait for a lock (`store/connection.ts`) and for the commit.
 */
export const ANSWER_MS = 7_000;

/** No answer came in time. What was asked is not done, and won't be. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';

  constructor() {
    super(`no answer within ${ANSWER_MS} ms`);
  }
}
