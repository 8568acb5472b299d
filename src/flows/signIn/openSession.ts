import { deviceOf } from '../../rules/account/userAgent.ts';
import type { Caller } from '../../rules/common/caller.ts';
import { shownNetwork } from '../../rules/common/network.ts';
import { sha256 } from '../../secrets/digest.ts';
import { randomSecret } from '../../secrets/random.ts';
import { insertSession, type NewSession } from '../../store/common/sessions.ts';
import type { Context } from '../common/context.ts';
import { rememberSession } from './seenWarnings.ts';
import { keepLanguage } from './session.ts';

/** A sign-in's cookies, null for none: session (which ends), pre-login session, device, seen, language chosen there. */
export type SentCookies = Readonly<
  Record<'session' | 'preLogin' | 'device' | 'seen' | 'language', string | null>
>;

/** The user, what proves the sign-in, and whether this browser is known. */
type Proof = Pick<NewSession, 'userId' | 'passwordHash' | 'externalId' | 'knownDevice'>;

/**
 * Opens a session. Call it last: there is a session only if its cookie is delivered. @returns values of new cookies, and the
 * language that the user chose elsewhere; null if the user was blocked or the proof is outdated
 */
export async function openSession(context: Context, proof: Proof, cookies: SentCookies, caller: Caller) {
  const { userId, knownDevice } = proof;
  const sessionCookie = randomSecret().toString('base64url');
  const sessionHash = sha256(sessionCookie);
  const earlierHash = cookies.session === null ? null : sha256(cookies.session);
  const origin = { ...deviceOf(caller.userAgent), network: shownNetwork(caller.address) };
  const session = { sessionHash, earlierHash, ...proof, ...origin };
  const { valid, language: kept } = await insertSession(context.db, { ...session, ...caller });
  if (!valid) return null;
  const { language: chosen } = cookies;
  // Another user of this browser may have chosen it: it never replaces a kept one.
  if (chosen !== null && kept === null) await keepLanguage(context, { userId }, chosen);
  const seenCookie = knownDevice ? null : rememberSession({ user: { userId }, sessionHash }, cookies.seen);
  return { sessionHash, sessionCookie, seenCookie, language: chosen === null ? kept : null };
}
