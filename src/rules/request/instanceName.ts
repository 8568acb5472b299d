import { invalidRequest } from '../common/error.ts';
import { MAX_INSTANCE_NAME_BYTES } from '../common/limits.ts';
import { byteLength, findUnclearInName } from '../common/text.ts';

/** Contract 2.2, instance_name; null, itself an instance, without one. @throws {OAuthError} `invalid_request` */
export function parseInstanceName(value: string | undefined): string | null {
  if (value === undefined) return null;
  const parameter = 'instance_name';
  if (byteLength(value) > MAX_INSTANCE_NAME_BYTES) {
    const message = `The parameter instance_name is longer than ${MAX_INSTANCE_NAME_BYTES} bytes.`;
    throw invalidRequest('instance_name_too_long', message, { parameter });
  }
  const unclear = findUnclearInName(value);
  if (unclear === undefined) return value;
  const message =
    'The parameter instance_name has invisible characters, or spaces other than single ones between words.';
  throw invalidRequest('unclear_instance_name', message, { parameter, rule: `instance_name: ${unclear}` });
}
