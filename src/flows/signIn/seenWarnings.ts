import { z } from 'zod';
import { MAX_KNOWN_USERS } from '../../rules/common/limits.ts';
import { bytesOf, hexOf, sha256 } from '../../secrets/digest.ts';
import { SESSION_ID_PREFIX_LENGTH } from '../../store/account/history.ts';
import type { Session } from '../../store/common/sessions.ts';

// A browser's own cookie of the warnings seen there, and of its own sessions: another browser hides nothing.
// It is not signed: a forged one only hides warnings in the forger's own browser.

const MAX_SESSIONS_KEPT = 10;
/** A user's seen warnings while others are unseen: a cookie has 4,096 characters. Dropped ones appear again. */
const MAX_WARNINGS_KEPT = 40;

const ID = z.string().regex(/^[0-9a-f]{16}$/);
const WARNING = z.string().regex(/^[0-9a-f]{12}(-\d{1,16}){2}$/);
/** A user's part in a browser: microseconds since 1970 until which all was seen, warnings seen after that, own sessions. */
const SEEN = z.object({
  micros: z.string().regex(/^\d{1,16}$/),
  sessions: z.array(ID).max(MAX_SESSIONS_KEPT),
  warnings: z.array(WARNING).max(MAX_WARNINGS_KEPT).default([]), // of other users none are kept
});
/** By user: JSON in base64url. */
const COOKIE = z.array(z.tuple([ID, SEEN])).max(MAX_KNOWN_USERS);

export type Seen = z.infer<typeof SEEN>;
type SessionOfUser = Pick<Session, 'sessionHash'> & { readonly user: Pick<Session['user'], 'userId'> };

export function readSeen(session: SessionOfUser, cookie: string | null): Seen {
  return seenIn(cookie).get(keyOf(session)) ?? { micros: '0', sessions: [], warnings: [] };
}

/** The new value of the cookie, in which `seen` replaces this user's part. Those of other users stay. */
export function seenCookieWith(session: SessionOfUser, cookie: string | null, seen: Seen): string {
  const key = keyOf(session);
  const before = [...seenIn(cookie)].filter(([other]) => other !== key);
  const others = before.map(([other, { micros, sessions }]) => [other, { micros, sessions }]);
  const kept = { ...seen, warnings: seen.warnings.slice(-MAX_WARNINGS_KEPT) };
  const all = [[key, kept], ...others].slice(0, MAX_KNOWN_USERS);
  return Buffer.from(JSON.stringify(all)).toString('base64url');
}

/** Marks a session as this browser's own, so that its acts are not reported in the next. @returns the new cookie */
export function markOwnSession(session: SessionOfUser, cookie: string | null): string {
  const seen = readSeen(session, cookie);
  const own = [...new Set([seenCookieSessionId(session), ...seen.sessions])].slice(0, MAX_SESSIONS_KEPT);
  return seenCookieWith(session, cookie, { ...seen, sessions: own });
}

/** The id of a session in the cookie, the same as `sessionIdOf` in SQL. */
export function seenCookieSessionId({ sessionHash }: SessionOfUser): string {
  return hexOf(sha256(bytesOf(sessionHash))).slice(0, SESSION_ID_PREFIX_LENGTH);
}

function seenIn(cookie: string | null): Map<string, Seen> {
  try {
    return new Map(COOKIE.parse(JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString())));
  } catch {
    return new Map();
  }
}

/** A digest instead of the user id: the cookie must name no user. */
function keyOf({ user }: SessionOfUser): string {
  return hexOf(sha256(user.userId)).slice(0, 16);
}
