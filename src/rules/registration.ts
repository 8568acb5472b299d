import type { ClientSettings } from './client.ts';
import {
  MAX_LOGIN_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_PASSWORD_BYTES,
  MAX_REDIRECT_URI_CHARACTERS,
  MIN_PASSWORD_CHARACTERS,
} from './limits.ts';
import { answerParameterIn } from './redirectUri.ts';
import { RIGHT_NAMES } from './scope.ts';
import { byteLength, findUnclearInName } from './text.ts';
import { isWebAddress, WEB_ADDRESS } from './webAddress.ts';

// What applications, resource servers and users may be registered with. Messages are for the operator.

/** A registration that is refused; the message says what to change. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/**
 * The name of an application, a resource server or a user. People who decide about money read it, so it has no characters
 * that can't be seen.
 *
 * @throws {RegistrationError}
 */
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

/** Why a password can't be taken. */
export type PasswordProblem = 'too_long' | 'control_characters' | 'too_short';

/**
 * A password must be possible to type into the form of a page. Its characters are counted as they are compared: under NFKC.
 *
 * @returns null for one that can be taken
 */
export function passwordProblem(
  password: string,
  minCharacters: number = MIN_PASSWORD_CHARACTERS,
): PasswordProblem | null {
  if (byteLength(password) > MAX_PASSWORD_BYTES) return 'too_long';
  if (/\p{Cc}/u.test(password)) return 'control_characters';
  return [...password.normalize('NFKC')].length < minCharacters ? 'too_short' : null;
}

/** A password that an operator gives a user; a weak one is short, but not empty. @throws {RegistrationError} */
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

/** Those settings of an application that are given (contract 2.1). @throws {RegistrationError} */
export function checkClientSettings(settings: Partial<ClientSettings>): void {
  const { name, redirectUri, allowedRights, site } = settings;
  if (name !== undefined) checkName(name);
  const problem = redirectUri === undefined ? undefined : redirectUriProblem(redirectUri);
  if (problem !== undefined) throw new RegistrationError(`the redirect URI can't be registered: ${problem}`);
  if (allowedRights) checkRights(allowedRights);
  if (site && !isWebAddress(site)) {
    throw new RegistrationError(`the site must be ${WEB_ADDRESS}`);
  }
}

function checkRights(names: readonly string[]): void {
  const unknown = names.find((name) => !(RIGHT_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new RegistrationError(`${unknown} is not a right; there are: ${RIGHT_NAMES.join(', ')}`);
  }
}

/** Schemes that run or read something in the browser instead of taking the user to an application. */
const UNSAFE_SCHEMES = [
  ...['javascript', 'data', 'vbscript', 'file', 'blob', 'about', 'view-source', 'filesystem'],
  ...['mailto', 'tel', 'sms', 'ftp', 'ws', 'wss'],
];

/** Why `uri` can't be registered as a redirect URI, as the end of a sentence; undefined when it can. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > MAX_REDIRECT_URI_CHARACTERS) {
    return `it is longer than ${MAX_REDIRECT_URI_CHARACTERS} characters`;
  }
  if (uri.includes('#')) return 'it has a fragment (#), which a redirect URI must not have';
  if (!/^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/.test(uri)) {
    return 'it has characters that are not allowed in a URI';
  }
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined || !URL.canParse(uri)) return 'it is not an absolute URI';
  if (UNSAFE_SCHEMES.includes(scheme)) return `the scheme ${scheme}: does not lead to an application`;
  if (/^[^:]+:\/\/[^/?]*@/.test(uri)) return 'it has a user name';
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/?]/i.test(uri)) return 'it needs a host';
  if (/%(?![0-9A-Fa-f]{2})/.test(uri)) return 'it has a % without two hex digits behind it';
  const forging = answerParameterIn(uri);
  return forging && `its query has ${forging}, which stands in our answer`;
}
