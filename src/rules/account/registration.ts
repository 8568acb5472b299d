import { Refusal } from '../common/error.ts';
import {
  MAX_EXTERNAL_ID_CHARACTERS,
  MAX_LOGIN_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_PASSWORD_BYTES,
  MIN_PASSWORD_CHARACTERS,
} from '../common/limits.ts';
import { byteLength, findUnclear, findUnclearInName } from '../common/text.ts';
import { isWebAddress, WEB_ADDRESS } from '../common/webAddress.ts';
import type { ClientSettings } from '../request/client.ts';
import { redirectUriProblem } from '../request/redirectUri.ts';
import { BUILT_IN_RIGHTS, kindOf } from '../scope/rights.ts';

function ensure(field: string, holds: boolean, problem: string): void {
  if (!holds) throw new Refusal('refused_value', problem, field);
}

/** Users read a name before giving money, so it has no invisible characters. @throws {Refusal} */
export function checkName(name: string): void {
  checkVisible('name', name, MAX_NAME_CHARACTERS);
}

/** @throws {Refusal} */
export function checkLogin(login: string): void {
  checkVisible('login', login, MAX_LOGIN_CHARACTERS);
}

/** The user's id in another system, such as `uid=vera,o=Wallet Ltd`: compared exactly. @throws {Refusal} */
export function checkExternalId(id: string): void {
  const isClear = id.trim() === id && findUnclear(id.replaceAll(' ', '_')) === undefined;
  ensure(
    'external_id',
    id !== '' && [...id].length <= MAX_EXTERNAL_ID_CHARACTERS && isClear,
    `the external id needs 1 to ${MAX_EXTERNAL_ID_CHARACTERS} visible characters, and spaces only between them`,
  );
}

/** A `client_id` of another service: characters that need no escape in a form, a header or a path. @throws {Refusal} */
export function checkClientId(id: string): void {
  const isPlain = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,128}$/.test(id); // a path can’t end in . and ..
  ensure('id', isPlain, 'the client id needs 1 to 128 letters, digits and signs of . _ ~ -');
}

/** RFC 6749 section 10.10: guessing a secret must be hopeless. */
const MIN_SECRET_BITS = 128;
/** Characters as different as those of a random secret nearly always are. */
const MIN_DISTINCT = 8;

/** A secret or token of another service. @returns why it is weak, by its length and alphabet @throws {Refusal} */
export function checkIssued(what: 'secret' | 'token', secret: string): string | undefined {
  const most = what === 'secret' ? 256 : 4096; // a token has to fit into a request
  const fits = /^[\x20-\x7e]{16,}$/.test(secret) && secret.length <= most;
  ensure(what, fits, `the ${what} needs 16 to ${most} bytes of printable ASCII`);
  const part = /^(.+?)\1+$/.exec(secret)?.[1] ?? secret; // repeated, it is as easy to guess
  const alphabets = [/^\d+$/, /^([\da-f]+|[\dA-F]+)$/, /^[\da-z]+$/i].findIndex((letters) =>
    letters.test(part),
  );
  const distinct = new Set(part).size;
  const size = distinct < MIN_DISTINCT ? distinct : ([10, 16, 62][alphabets] ?? 94);
  const bits = Math.floor(part.length * Math.log2(size));
  if (bits >= MIN_SECRET_BITS) return undefined;
  return `the ${what} has about ${bits} bits, fewer than ${MIN_SECRET_BITS}: use a longer one, or pass \`force\``;
}

function checkVisible(what: 'name' | 'login', text: string, maxCharacters: number): void {
  const fits = text !== '' && [...text].length <= maxCharacters;
  ensure(what, fits, `the ${what} needs 1 to ${maxCharacters} characters`);
  const unclear = findUnclearInName(text);
  const rule = 'it needs visible characters, and single spaces between words';
  ensure(what, unclear === undefined, `the ${what} has ${unclear}: ${rule}`);
}

/** The problem of a password for a form, null if none. Characters are counted as they are compared: under NFKC. */
export function passwordProblem(password: string, min = MIN_PASSWORD_CHARACTERS) {
  if (byteLength(password) > MAX_PASSWORD_BYTES) return 'too_long';
  if (/\p{Cc}/u.test(password)) return 'control_characters';
  return [...password.normalize('NFKC')].length < min ? 'too_short' : null;
}

/** A weak password may be short, but not empty. @throws {Refusal} */
export function checkPassword(field: string, password: string, allowWeak: boolean): void {
  const problem = passwordProblem(password, allowWeak ? 1 : undefined);
  const what = field.replace('_', ' ');
  const isShort = problem === 'too_short' && password !== '';
  const short = `the ${what} has fewer than ${MIN_PASSWORD_CHARACTERS} characters: use a longer one, or pass \`allow_weak\``;
  ensure(field, !isShort, short);
  const wrong = `the ${what} needs 1 to ${MAX_PASSWORD_BYTES} bytes and no control characters`;
  ensure(field, problem === null, wrong);
}

/** Contract 2.1. @throws {Refusal} */
export function checkClientSettings(settings: Partial<ClientSettings>, catalogue = BUILT_IN_RIGHTS): void {
  const { name, redirectUri, allowedRights, site } = settings;
  if (name !== undefined) checkName(name);
  const problem = redirectUri === undefined ? undefined : redirectUriProblem(redirectUri);
  ensure('redirect_uri', problem === undefined, `the redirect URI can't be registered: ${problem}`);
  const unknown = allowedRights?.find((right) => kindOf(right, catalogue) === undefined);
  const known = [...new Set([...BUILT_IN_RIGHTS.keys(), ...catalogue.keys()])].join(', ');
  const own = 'Others are in the file of CATALOGUE, which commands need too';
  ensure('allowed_rights', unknown === undefined, `${unknown} is not a right; there are: ${known}. ${own}`);
  ensure('site', site == null || isWebAddress(site), `the site must be ${WEB_ADDRESS}`);
}
