import {
  MAX_LOGIN_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_PASSWORD_BYTES,
  MIN_PASSWORD_CHARACTERS,
} from '../common/limits.ts';
import { byteLength, findUnclearInName } from '../common/text.ts';
import { isWebAddress, WEB_ADDRESS } from '../common/webAddress.ts';
import type { ClientSettings } from '../request/client.ts';
import { redirectUriProblem } from '../request/redirectUri.ts';
import { isRightName, RIGHT_NAMES } from '../scope/rights.ts';

/** A refused registration; the message has the operator's fix. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/** Users read a name before giving money, so it has no invisible characters. @throws {RegistrationError} */
export function checkName(name: string): void {
  checkVisible('name', name, MAX_NAME_CHARACTERS);
}

/** @throws {RegistrationError} */
export function checkLogin(login: string): void {
  checkVisible('login', login, MAX_LOGIN_CHARACTERS);
}

function checkVisible(what: 'name' | 'login', text: string, maxCharacters: number): void {
  if (text === '' || [...text].length > maxCharacters) {
    throw new RegistrationError(`the ${what} needs 1 to ${maxCharacters} characters`);
  }
  const unclear = findUnclearInName(text);
  if (unclear !== undefined) {
    throw new RegistrationError(
      `the ${what} has ${unclear}: it needs characters that can be seen, and single spaces between words`,
    );
  }
}

type PasswordProblem = 'too_long' | 'control_characters' | 'too_short';

/** The problem of a password for a form, null if none. Characters are counted as they are compared: under NFKC. */
export function passwordProblem(password: string, min = MIN_PASSWORD_CHARACTERS): PasswordProblem | null {
  if (byteLength(password) > MAX_PASSWORD_BYTES) return 'too_long';
  if (/\p{Cc}/u.test(password)) return 'control_characters';
  return [...password.normalize('NFKC')].length < min ? 'too_short' : null;
}

/** A weak password may be short, but not empty. @throws {RegistrationError} */
export function checkPassword(what: string, password: string, allowWeak: boolean): void {
  const problem = passwordProblem(password, allowWeak ? 1 : undefined);
  if (problem === null) return;
  if (problem === 'too_short' && password !== '') {
    throw new RegistrationError(
      `the ${what} has fewer than ${MIN_PASSWORD_CHARACTERS} characters: take a longer one, or say --allow-weak`,
    );
  }
  throw new RegistrationError(`the ${what} needs 1 to ${MAX_PASSWORD_BYTES} bytes and no control characters`);
}

/** Contract 2.1. @throws {RegistrationError} */
export function checkClientSettings(settings: Partial<ClientSettings>): void {
  const { name, redirectUri, allowedRights, site } = settings;
  if (name !== undefined) checkName(name);
  const problem = redirectUri === undefined ? undefined : redirectUriProblem(redirectUri);
  if (problem !== undefined) throw new RegistrationError(`the redirect URI can't be registered: ${problem}`);
  const unknown = allowedRights?.find((right) => !isRightName(right));
  if (unknown !== undefined) {
    throw new RegistrationError(`${unknown} is not a right; there are: ${RIGHT_NAMES.join(', ')}`);
  }
  if (site && !isWebAddress(site)) throw new RegistrationError(`the site must be ${WEB_ADDRESS}`);
}
