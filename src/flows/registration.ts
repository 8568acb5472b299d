import { findUnclearInName } from '../rules/text.ts';
import { randomHex } from '../secrets/random.ts';

const ID_BYTES = 16;
const MAX_NAME = 100;

/** A registration that can't be made; the message says what to change. */
export class RegistrationError extends Error {}

/** The id of a new application or resource server. */
export function newId(): string {
  return randomHex(ID_BYTES);
}

/** Names are shown to people who decide about money: they must not be able to look like something else. @throws {RegistrationError} */
export function checkName(what: string, name: string, longest: number = MAX_NAME): void {
  if (name === '' || [...name].length > longest) {
    throw new RegistrationError(`the ${what} needs 1 to ${longest} characters`);
  }
  const unclear = findUnclearInName(name);
  if (unclear !== undefined) {
    throw new RegistrationError(
      `the ${what} has ${unclear}: it needs characters that can be seen, and single spaces between words`,
    );
  }
}
