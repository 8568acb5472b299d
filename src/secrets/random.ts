import { randomBytes } from 'node:crypto';

/** Identifiers and secrets that people copy: hex needs no escaping in a form, a header or a URL. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
