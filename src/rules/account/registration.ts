import { OperatorError } from '../common/error.ts';
import * as limits from '../common/limits.ts';
import { lookAlikeProblem } from '../common/lookAlike.ts';
import { isWebAddress, WEB_ADDRESS_RULE } from '../common/network.ts';
import { findInvisibleCharacter, findUnclearCharacter } from '../common/text.ts';
import type { ClientSettings } from '../request/client.ts';
import { redirectUriProblem } from '../request/redirectUri.ts';
import { BUILT_IN_RIGHTS, kindOf } from '../scope/rights.ts';

function ensure(field: string, holds: boolean, problem: string): void {
  if (!holds) throw new OperatorError('refused_value', problem, field);
}

/** Users read a name before giving money, so it has no invisible characters. @throws {OperatorError} */
export function checkName(name: string): void {
  checkVisible('name', name, limits.MAX_NAME_CHARACTERS);
}

/** @throws {OperatorError} */
export function checkLogin(login: string): void {
  checkVisible('login', login, limits.MAX_LOGIN_CHARACTERS);
  ensure('login', !isDots(login), `the login ${NO_PATH}`);
}

const isDots = (name: string) => /^\.{1,2}$/.test(name);
const NO_PATH = 'can’t be . or .., which no path can have';

/** The operators of shipped jobs. */
const JOBS = ['trial mode', 'migrate job', 'maintain job', 'assent-migrate', 'assent-maintain'];

/** The audit trail tells operators apart by their names alone. @param commandNames those that commands write @throws {OperatorError} */
export function checkOperatorName(name: string, others: readonly string[], commandNames: readonly string[]) {
  checkName(name);
  ensure('name', !isDots(name), `the name ${NO_PATH}`);
  const problem = lookAlikeProblem(name, others, [...commandNames, ...JOBS], 'operator');
  ensure('name', problem === undefined, `the name ${problem}`);
}

/** The user's id in another system, such as `uid=vera,o=Wallet Ltd`: compared exactly. @throws {OperatorError} */
export function checkExternalId(id: string): void {
  const most = limits.MAX_EXTERNAL_ID_CHARACTERS;
  const fits = id !== '' && [...id].length <= most;
  const isClear = id.trim() === id && findInvisibleCharacter(id.replaceAll(' ', '_')) === undefined;
  const rule = `1 to ${most} visible characters; spaces may stand only between them`;
  ensure('external_id', fits && isClear, `the external id must have ${rule}`);
}

/** An id from elsewhere: characters that need no escape in a form, a header or a path. @throws {OperatorError} */
export function checkClientId(id: string, what = 'client id'): void {
  const isPlain = /^[A-Za-z0-9._~-]{1,128}$/.test(id) && !isDots(id);
  ensure('id', isPlain, `the ${what} must have 1 to 128 characters: letters, digits and . _ ~ -`);
}

/** RFC 6749 section 10.10: guessing a secret must be hopeless. */
const MIN_SECRET_BITS = 128;
/** Characters as different as those of a random secret nearly always are. */
const MIN_DISTINCT = 8;
/** With the number of their characters. */
const ALPHABETS = [
  [10, /^\d+$/],
  [16, /^([\da-f]+|[\dA-F]+)$/],
  [62, /^[\da-z]+$/i],
] as const;

/** A secret or token of another service. @returns why it is weak, by its length and alphabet @throws {OperatorError} */
export function checkExistingSecret(what: 'secret' | 'token', secret: string): string | undefined {
  const most = what === 'secret' ? 256 : 4096; // a token has to fit into a request
  const fits = /^[\x20-\x7e]{16,}$/.test(secret) && secret.length <= most;
  ensure(what, fits, `the ${what} must have 16 to ${most} bytes of printable ASCII`);
  const part = /^(.+?)\1+$/.exec(secret)?.[1] ?? secret; // repeated, it is as easy to guess
  const distinct = new Set(part).size;
  const [letters = 94] = ALPHABETS.find(([, form]) => form.test(part)) ?? [];
  const size = distinct < MIN_DISTINCT ? distinct : letters;
  const bits = Math.floor(part.length * Math.log2(size));
  if (bits >= MIN_SECRET_BITS) return undefined;
  return `the ${what} has about ${bits} bits, fewer than ${MIN_SECRET_BITS}: use a longer one, or pass \`force\``;
}

function checkVisible(what: 'name' | 'login', text: string, maxCharacters: number): void {
  const fits = text !== '' && [...text].length <= maxCharacters;
  ensure(what, fits, `the ${what} must have 1 to ${maxCharacters} characters`);
  const unclear = findUnclearCharacter(text);
  const rule = 'it may have only visible characters, and single spaces between words';
  ensure(what, unclear === undefined, `the ${what} has ${unclear}: ${rule}`);
}

/** The problem of a password for a form, null if none. Characters are counted as they are compared: under NFKC. */
export function passwordProblem(password: string, min = limits.MIN_PASSWORD_CHARACTERS) {
  if (Buffer.byteLength(password) > limits.MAX_PASSWORD_BYTES) return 'too_long';
  if (/\p{Cc}/u.test(password)) return 'control_characters';
  return [...password.normalize('NFKC')].length < min ? 'too_short' : null;
}

/** A weak password may be short, but not empty. @throws {OperatorError} */
export function checkPassword(field: string, password: string, allowWeak: boolean): void {
  const problem = passwordProblem(password, allowWeak ? 1 : undefined);
  const what = field.replace('_', ' ');
  const isShort = problem === 'too_short' && password !== '';
  const least = `the ${what} has fewer than ${limits.MIN_PASSWORD_CHARACTERS} characters`;
  ensure(field, !isShort, `${least}: use a longer one, or pass \`allow_weak\``);
  const wrong = `the ${what} must have 1 to ${limits.MAX_PASSWORD_BYTES} bytes, and no control characters`;
  ensure(field, problem === null, wrong);
}

/** Contract 2.1. @throws {OperatorError} */
export function checkClientSettings(settings: Partial<ClientSettings>, catalogue = BUILT_IN_RIGHTS): void {
  const { name, redirectUri, allowedRights, site, eventsUri } = settings;
  if (name !== undefined) checkName(name);
  const problem = redirectUri === undefined ? undefined : redirectUriProblem(redirectUri);
  ensure('redirect_uri', problem === undefined, `the redirect URI can't be registered: ${problem}`);
  const unknown = allowedRights?.find((right) => kindOf(right, catalogue) === undefined);
  const known = [...new Set([...BUILT_IN_RIGHTS.keys(), ...catalogue.keys()])].join(', ');
  const own = 'Others are in the file of CATALOGUE, which commands need too';
  ensure('allowed_rights', unknown === undefined, `${unknown} is not a right; there are: ${known}. ${own}`);
  ensure('site', site == null || isWebAddress(site), `the site must be ${WEB_ADDRESS_RULE}`);
  const isUri = eventsUri == null || (isWebAddress(eventsUri) && !eventsUri.includes('#'));
  ensure('events_uri', isUri, `the URI for events must be ${WEB_ADDRESS_RULE}, without a fragment`);
}
