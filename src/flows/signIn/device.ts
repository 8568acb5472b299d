import { randomBytes } from 'node:crypto';
import { KNOWN_DEVICE_SECONDS } from '../../rules/common/lifetimes.ts';
import { MAX_KNOWN_USERS } from '../../rules/common/limits.ts';
import { bytesOf, sha256 } from '../../secrets/digest.ts';
import type { Context } from '../common/context.ts';

// A device cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies") is given after a right password. From
// then on attempts in that browser have their own counter, so that others at its network or login can't lock its user out.

/** A kind of password, with its own counters and devices: knowing one gives no trust for the other. */
export type PasswordKind = 'password' | 'payment password';

const SEPARATOR = '.';

// The signed payload: a digest of password kind and login, one of the stored password hash (so that a new password makes every
// device unknown), a random name of the device, the expiry.
const DIGEST_BYTES = 16;
const NAME_BYTES = 16;
const EXPIRY_BYTES = 8;

/** The cookie after a right password, with a new device name; it keeps the other logins of the `earlier` one. */
export function newDeviceCookie(
  context: Context,
  passwordKind: PasswordKind,
  login: string,
  passwordHash: string,
  earlier: string | null,
): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES);
  expiry.writeBigUInt64BE(BigInt(Date.now() + KNOWN_DEVICE_SECONDS * 1000));
  const payload = [loginDigest(passwordKind, login), digestOf(passwordHash), randomBytes(NAME_BYTES), expiry];
  const own = context.keyRing.sign('device', Buffer.concat(payload));
  const others = devicesIn(context, passwordKind, login, earlier).filter(({ isOwn }) => !isOwn);
  return [own, ...others.map(({ part }) => part)].slice(0, MAX_KNOWN_USERS).join(SEPARATOR);
}

/** The device name in a cookie for this login; null for none, or after a new password. */
export async function knownDevice(
  context: Context,
  passwordKind: PasswordKind,
  login: string,
  cookie: string | null,
  findPasswordHash: () => Promise<string | null>,
): Promise<string | null> {
  const payload = devicesIn(context, passwordKind, login, cookie).find(({ isOwn }) => isOwn)?.payload;
  if (payload === undefined) return null;
  const nameAt = 2 * DIGEST_BYTES;
  if (Date.now() >= Number(payload.readBigUInt64BE(nameAt + NAME_BYTES))) return null;
  const passwordHash = await findPasswordHash();
  if (passwordHash === null || !payload.subarray(DIGEST_BYTES, nameAt).equals(digestOf(passwordHash)))
    return null;
  return payload.toString('hex', nameAt, nameAt + NAME_BYTES);
}

/** The last user of a device, as a digest, for a browser whose user isn't known yet; null for none. */
export function lastUserDigest({ keyRing }: Context, cookie: string | null): string | null {
  const payload = keyRing.verify('device', cookie?.split(SEPARATOR, 1)[0] ?? '')?.payload;
  return payload?.toString('hex', 0, DIGEST_BYTES) ?? null;
}

function devicesIn({ keyRing }: Context, passwordKind: PasswordKind, login: string, cookie: string | null) {
  const own = loginDigest(passwordKind, login);
  return (cookie?.split(SEPARATOR, MAX_KNOWN_USERS) ?? []).flatMap((part) => {
    const payload = keyRing.verify('device', part)?.payload;
    return payload ? [{ part, payload, isOwn: payload.subarray(0, DIGEST_BYTES).equals(own) }] : [];
  });
}

function loginDigest(passwordKind: PasswordKind, login: string): Buffer {
  return digestOf(JSON.stringify([passwordKind, login]));
}

function digestOf(text: string): Buffer {
  return bytesOf(sha256(text)).subarray(0, DIGEST_BYTES);
}
