import { randomBytes } from 'node:crypto';
import { bytesOf, sha256 } from '../secrets/digest.ts';
import type { Context } from './context.ts';

// A device cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"): after a right password the browser
// gets one, and from then on tries there are counted for that device alone. Neither neighbours nor strangers can hold
// its user up, and without it nobody can tell where somebody has signed in.

/** What is guessed at. Each has counters and devices of its own: knowing one password is no reason to be trusted with the other. */
export type Guarded = 'password' | 'payment password';

export const DEVICE_LIFETIME_SECONDS = 90 * 24 * 60 * 60;

// The signed payload: digest of what is guarded and the login, a random name of the device, the expiry.
const LOGIN_BYTES = 16;
const NONCE_BYTES = 16;
const EXPIRY_BYTES = 8;

/** The cookie for a browser in which the right password of this login was typed just now. Each time it is a new one. */
export function printDevice({ keyRing }: Context, guarded: Guarded, login: string): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES);
  expiry.writeBigUInt64BE(BigInt(Date.now() + DEVICE_LIFETIME_SECONDS * 1000));
  return keyRing.sign(
    'device',
    Buffer.concat([describeLogin(guarded, login), randomBytes(NONCE_BYTES), expiry]),
  );
}

/** The name of the device that a cookie makes known for this login; undefined when it makes none known. */
export function readDevice(
  { keyRing }: Context,
  guarded: Guarded,
  login: string,
  cookie: string | undefined,
): string | undefined {
  const signed = cookie === undefined ? undefined : keyRing.verify('device', cookie);
  if (signed === undefined) return undefined;
  const { payload } = signed;
  if (!payload.subarray(0, LOGIN_BYTES).equals(describeLogin(guarded, login))) return undefined;
  if (Date.now() >= Number(payload.readBigUInt64BE(LOGIN_BYTES + NONCE_BYTES))) return undefined;
  return payload.toString('hex', LOGIN_BYTES, LOGIN_BYTES + NONCE_BYTES);
}

function describeLogin(guarded: Guarded, login: string): Buffer {
  return bytesOf(sha256(JSON.stringify([guarded, login]))).subarray(0, LOGIN_BYTES);
}
