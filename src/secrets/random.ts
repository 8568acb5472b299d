import { randomBytes } from 'node:crypto';

/** Random hex digits, safe in forms, headers and URLs without escaping. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** A new application's or resource server's id: 32 hex digits. */
export function randomId(): string {
  return randomHex(16);
}

const SECRET_BYTES = 32;
/** Secrets are drawn in bulk: a call to OpenSSL costs ten times more than the bytes. */
const DRAWN_BYTES = 128 * SECRET_BYTES;

let drawn = Buffer.alloc(0);

/** @returns 32 random bytes, never used before */
export function randomSecret(): Buffer {
  if (drawn.length === 0) drawn = randomBytes(DRAWN_BYTES);
  const secret = drawn.subarray(0, SECRET_BYTES);
  drawn = drawn.subarray(SECRET_BYTES);
  return secret;
}
