import { OAuthError } from './error.ts';
import { byteLength, hasDeceptiveCharacters } from './text.ts';

const LONGEST_INSTANCE_NAME_BYTES = 255;

/**
 * The identifier of an authorization within the application (contract 2.2); null for none, which is an
 * instance of its own.
 *
 * @throws {OAuthError} `invalid_request`
 */
export function readInstanceName(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (byteLength(value) > LONGEST_INSTANCE_NAME_BYTES) {
    throw new OAuthError(
      'invalid_request',
      `The parameter instance_name is longer than ${LONGEST_INSTANCE_NAME_BYTES} bytes.`,
    );
  }
  if (hasDeceptiveCharacters(value)) {
    throw new OAuthError('invalid_request', 'The parameter instance_name has control characters.');
  }
  return value;
}
