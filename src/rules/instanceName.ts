import { invalidRequest } from './error.ts';
import { MAX_INSTANCE_NAME_BYTES } from './limits.ts';
import { byteLength, findUnclearInName } from './text.ts';

const WRONG = { reason: 'wrong_parameter', parameter: 'instance_name' } as const;

/**
 * The identifier of an authorization within the application (contract 2.2); null for none. Without a name it is an
 * instance of its own.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function parseInstanceName(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (byteLength(value) > MAX_INSTANCE_NAME_BYTES) {
    throw invalidRequest(
      `The parameter instance_name is longer than ${MAX_INSTANCE_NAME_BYTES} bytes.`,
      WRONG,
    );
  }
  const unclear = findUnclearInName(value);
  if (unclear !== undefined) {
    const message =
      'The parameter instance_name has invisible characters, or spaces other than single ones between words.';
    throw invalidRequest(message, { ...WRONG, rule: `instance_name: ${unclear}` });
  }
  return value;
}
