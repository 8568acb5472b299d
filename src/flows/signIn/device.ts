import { KNOWN_DEVICE_SECONDS } from '../../rules/common/lifetimes.ts';
import { MAX_KNOWN_USERS } from '../../rules/common/limits.ts';
import { s256 } from '../../secrets/digest.ts';
import { randomId } from '../../secrets/random.ts';
import type { Context } from '../common/context.ts';

// A device cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies") is given after a right password. From
// then on attempts in that browser have their own counter, so that others at its network or login can't lock its user out.

/** A kind of password, with its own counters and devices: knowing one gives no trust for the other. */
export type Guarded = 'password' | 'payment password';

const SEPARATOR = '.';

/** The cookie after a right password, with a new device name; it keeps the other logins of the `earlier` one. */
export function newDeviceCookie(
  context: Context,
  guarded: Guarded,
  login: string,
  passwordHash: string,
  earlier: string | null,
): string {
  const user = userDigest(guarded, login);
  const expiresAt = Date.now() + KNOWN_DEVICE_SECONDS * 1000;
  const payload = [user, digestOf(passwordHash), randomId(), expiresAt].join();
  const own = context.keyRing.sign('device', Buffer.from(payload));
  const others = devicesIn(context, earlier).filter((device) => device.user !== user);
  const parts = [own, ...others.map(({ part }) => part)];
  return parts.slice(0, MAX_KNOWN_USERS).join(SEPARATOR);
}

/** The device name in a cookie for this login; null for none, or after a new password. */
export async function knownDevice(
  context: Context,
  guarded: Guarded,
  login: string,
  cookie: string | null,
  findPasswordHash: () => Promise<string | null>,
): Promise<string | null> {
  const own = devicesIn(context, cookie).find(({ user }) => user === userDigest(guarded, login));
  if (own === undefined || !(Date.now() < own.expiresAt)) return null;
  const passwordHash = await findPasswordHash();
  return passwordHash !== null && own.password === digestOf(passwordHash) ? own.name : null;
}

/** The last user of a device, as a digest, for a browser whose user isn't known yet; null for none. */
export function lastUserOf(context: Context, cookie: string | null): string | null {
  return devicesIn(context, cookie)[0]?.user ?? null;
}

/**
 * The devices in a cookie, the last one first. Each has the digest of its user, that of the stored password hash (so that a new
 * password makes every device unknown), a random name, and its expiry.
 */
function devicesIn({ keyRing }: Context, cookie: string | null) {
  return (cookie?.split(SEPARATOR, MAX_KNOWN_USERS) ?? []).flatMap((part) => {
    const payload = keyRing.verify('device', part)?.payload;
    if (payload === undefined) return [];
    const [user = '', password = '', name = '', expiresAt = ''] = payload.toString().split(',');
    return [{ part, user, password, name, expiresAt: Number(expiresAt) }];
  });
}

function userDigest(guarded: Guarded, login: string): string {
  return digestOf(JSON.stringify([guarded, login]));
}

/** 132 bits. */
function digestOf(text: string): string {
  return s256(text).slice(0, 22);
}
