import { OAuthError } from '../../src/rules/common/error.ts';
import { FileError } from '../../src/rules/common/operatorFile.ts';

/** The refusal that `rule` throws, if any. Other errors pass through: a crash is not a refusal. */
function caught(rule: () => unknown): OAuthError | undefined {
  try {
    rule();
    return undefined;
  } catch (error) {
    if (error instanceof OAuthError) return error;
    throw error;
  }
}

export function refusalOf(rule: () => unknown): OAuthError {
  const refusal = caught(rule);
  if (refusal === undefined) throw new Error('nothing was refused');
  return refusal;
}

/** The code of the refusal; undefined when `rule` refuses nothing. */
export const verdictOf = (rule: () => unknown) => caught(rule)?.code;

/** The mistakes that `parse` finds in an operator's file; empty if it accepts the file. */
export function mistakesIn(file: unknown, parse: (json: string) => unknown): readonly string[] {
  try {
    parse(typeof file === 'string' ? file : JSON.stringify(file));
    return [];
  } catch (error) {
    if (error instanceof FileError) return error.problems;
    throw error;
  }
}
