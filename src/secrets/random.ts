import { randomBytes } from 'node:crypto';

/** Random hex digits, which need no escaping in a form, a header or a URL. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

const ID_BYTES = 16;

/** The id of a new application or resource server: 32 hex digits. */
export function randomId(): string {
  return randomHex(ID_BYTES);
}

/** Secrets and request ids are drawn many at once: a call to OpenSSL costs ten times more than the bytes. */
const DRAWN_TOGETHER = 128;

const SECRET_BYTES = 32;

let drawn = Buffer.alloc(0);

/** @returns 32 random bytes, given out once */
export function randomSecret(): Buffer {
  if (drawn.length === 0) drawn = randomBytes(DRAWN_TOGETHER * SECRET_BYTES);
  const secret = drawn.subarray(0, SECRET_BYTES);
  drawn = drawn.subarray(SECRET_BYTES);
  return secret;
}

const REFERENCE_DIGITS = 10;

let drawnDigits = '';

/** A request id: 10 hexadecimal digits. */
export function newReference(): string {
  if (drawnDigits === '') drawnDigits = randomHex((DRAWN_TOGETHER * REFERENCE_DIGITS) / 2);
  const reference = drawnDigits.slice(0, REFERENCE_DIGITS);
  drawnDigits = drawnDigits.slice(REFERENCE_DIGITS);
  return reference;
}
