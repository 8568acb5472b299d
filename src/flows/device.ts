import { randomBytes } from 'node:crypto';
import { KNOWN_DEVICE_SECONDS } from '../rules/lifetimes.ts';
import { MAX_KNOWN_USERS } from '../rules/limits.ts';
import { bytesOf, sha256 } from '../secrets/digest.ts';
import type { Context } from './context.ts';

// A device cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies") is given after a right password. From
// then on attempts in that browser are counted for it alone, so that others at its network or login can't lock its user out.

/** What is guessed at. Each has counters and devices of its own: knowing one password gives no trust for the other. */
export type Guarded = 'password' | 'payment password';

const SEPARATOR = '.';

// The signed payload: a digest of what is guarded and the login, one of the stored password hash (so that a new password
// makes every device unknown), a random name of the device, the expiry.
const DIGEST_BYTES = 16;
const NAME_BYTES = 16;
const EXPIRY_BYTES = 8;

/**
 * The cookie for a browser in which the right password of this login was typed just now. The device gets a new name.
 *
 * @param earlier the cookie that the browser sent: other logins stay known in it
 */
export function newDeviceCookie(
  context: Context,
  guarded: Guarded,
  login: string,
  passwordHash: string,
  earlier: string | null,
): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES);
  expiry.writeBigUInt64BE(BigInt(Date.now() + KNOWN_DEVICE_SECONDS * 1000));
  const payload = [describeLogin(guarded, login), digestOf(passwordHash), randomBytes(NAME_BYTES), expiry];
  const own = context.keyRing.sign('device', Buffer.concat(payload));
  const others = devicesIn(context, earlier).filter(({ payload }) => !isOf(payload, guarded, login));
  const parts = [own, ...others.map(({ part }) => part)];
  return parts.slice(0, MAX_KNOWN_USERS).join(SEPARATOR);
}

/**
 * The name of the device that a cookie makes known for this login; null when it makes none known.
 *
 * @param findPasswordHash asked only for such a device: with a new password it is not known any more
 */
export async function knownDevice(
  context: Context,
  guarded: Guarded,
  login: string,
  cookie: string | null,
  findPasswordHash: () => Promise<string | null>,
): Promise<string | null> {
  const payload = devicesIn(context, cookie).find((device) => isOf(device.payload, guarded, login))?.payload;
  if (payload === undefined) return null;
  const nameAt = 2 * DIGEST_BYTES;
  if (Date.now() >= Number(payload.readBigUInt64BE(nameAt + NAME_BYTES))) return null;
  const passwordHash = await findPasswordHash();
  if (passwordHash === null || !payload.subarray(DIGEST_BYTES, nameAt).equals(digestOf(passwordHash)))
    return null;
  return payload.toString('hex', nameAt, nameAt + NAME_BYTES);
}

function devicesIn({ keyRing }: Context, cookie: string | null) {
  return (cookie?.split(SEPARATOR, MAX_KNOWN_USERS) ?? []).flatMap((part) => {
    const signed = keyRing.verify('device', part);
    return signed === undefined ? [] : [{ part, payload: signed.payload }];
  });
}

function isOf(payload: Buffer, guarded: Guarded, login: string): boolean {
  return payload.subarray(0, DIGEST_BYTES).equals(describeLogin(guarded, login));
}

function describeLogin(guarded: Guarded, login: string): Buffer {
  return digestOf(JSON.stringify([guarded, login]));
}

function digestOf(text: string): Buffer {
  return bytesOf(sha256(text)).subarray(0, DIGEST_BYTES);
}
