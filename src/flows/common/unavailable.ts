import { BusyError } from '../../secrets/password.ts';
import { isDatabaseAway, OverloadedError, TooLateError } from '../../store/database/errors.ts';

/** No response in time: the action is not carried out, not even later. docs/operate/503.md has the exceptions. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

const OVERLOADS = [OverloadedError, BusyError, TooLateError, UnansweredError];

/** The reason for a temporary failure: overload, or no database. Null for an internal error. */
export function whyUnavailable(error: unknown): 'overload' | 'database' | null {
  if (OVERLOADS.some((overload) => error instanceof overload)) return 'overload';
  return isDatabaseAway(error) ? 'database' : null;
}
