import { ANSWER_MS } from '../rules/lifetimes.ts';

/** No answer came in time. What was asked is not done, and won't be. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';

  constructor() {
    super(`no answer within ${ANSWER_MS} ms`);
  }
}
