import { BusyError } from '../../secrets/password.ts';
import { isDatabaseAway, OverloadedError, TooLateError } from '../../store/database/errors.ts';
import { ProviderAwayError } from './provider.ts';

/** No response in time: the action is not carried out, not even later. docs/operate/503.md has the exceptions. */
export class UnansweredError extends Error {
  override readonly name = 'UnansweredError';

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

const OVERLOADS = [OverloadedError, BusyError, TooLateError, UnansweredError];

export type Unavailable = 'overload' | 'database' | 'provider';

/** The reason for a temporary failure: overload, no database, or no provider. Null for an internal error. */
export function whyUnavailable(error: unknown): Unavailable | null {
  if (OVERLOADS.some((overload) => error instanceof overload)) return 'overload';
  if (error instanceof ProviderAwayError) return 'provider';
  return isDatabaseAway(error) ? 'database' : null;
}
