/**
 * What is asked for is decided within this time of being read, or not at all: see `decide` in `store/database.ts`. Less
 * than the store waits for an answer, so that who is told "not done" was told the truth.
 */
export const DECISION_MS = 4_500;

/**
 * Everything that is asked is answered within this time, however many things it waits for. What it is longer than
 * {@link DECISION_MS} is for a commit that began in time.
 */
export const ANSWER_MS = 6_000;

/** No answer came in time. What was asked is not done, and won't be. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';

  constructor() {
    super(`no answer within ${ANSWER_MS} ms`);
  }
}
