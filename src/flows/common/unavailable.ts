import { BusyError } from '../../secrets/password.ts';
import { isDatabaseAway, OverloadedError, TooLateError } from '../../store/database/errors.ts';

/** No answer came in time. What was asked is not done, and won't be: exceptions are in "What 503 means" (docs/operating.md). */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

const OVERLOADS = [OverloadedError, BusyError, TooLateError, UnansweredError];

/** Why a request can't be carried out now but may be in a moment: overload, or no database. Null for a fault of ours. */
export function whyUnavailable(error: unknown): 'overload' | 'database' | null {
  if (OVERLOADS.some((overload) => error instanceof overload)) return 'overload';
  return isDatabaseAway(error) ? 'database' : null;
}
