import { OAuthError } from '../../src/rules/common/error.ts';
import { FileError } from '../../src/rules/common/operatorFile.ts';

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

/** The mistakes that `parse` finds in an operator's file; none where it takes the file. */
export function mistakesIn(file: unknown, parse: (json: string) => unknown): readonly string[] {
  try {
    parse(typeof file === 'string' ? file : JSON.stringify(file));
    return [];
  } catch (error) {
    if (error instanceof FileError) return error.problems;
    throw error;
  }
}
