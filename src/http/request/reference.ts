import { randomBytes } from 'node:crypto';

const DIGITS = 10;
/** Ids are drawn many at once: a call to OpenSSL costs ten times more than the bytes. */
const DRAWN_TOGETHER = 128;

let drawn = '';

/** A request id: 10 hexadecimal digits. */
export function newReference(): string {
  if (drawn === '') drawn = randomBytes((DRAWN_TOGETHER * DIGITS) / 2).toString('hex');
  const reference = drawn.slice(0, DIGITS);
  drawn = drawn.slice(DIGITS);
  return reference;
}
