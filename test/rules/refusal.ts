import { OAuthError } from '../../src/rules/common/error.ts';

/** The refusal that `rule` ends in. Any other error passes through, so that a crash is never taken for a refusal. */
export function refusalOf(rule: () => unknown): OAuthError {
  try {
    rule();
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** The code of the refusal that `rule` ends in; undefined when it refuses nothing. */
export function verdictOf(rule: () => unknown): OAuthError['code'] | undefined {
  try {
    rule();
    return undefined;
  } catch (error) {
    if (error instanceof OAuthError) return error.code;
    throw error;
  }
}
