import { OverloadedError } from '../../rules/common/error.ts';
import { isDatabaseUnavailable } from '../../store/database/errors.ts';
import { ProviderAwayError } from './provider.ts';

/** The reason for a temporary failure: overload, no database, or no provider. Null for an internal error. */
export function whyUnavailable(error: unknown) {
  if (error instanceof OverloadedError) return 'overload';
  if (error instanceof ProviderAwayError) return 'provider';
  return isDatabaseUnavailable(error) ? 'database' : null;
}
