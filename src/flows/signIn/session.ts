import { randomBytes } from 'node:crypto';
import { deviceOf } from '../../rules/account/userAgent.ts';
import type { Caller, RequestMeta } from '../../rules/common/caller.ts';
import { truncateNetwork } from '../../rules/common/network.ts';
import { sha256 } from '../../secrets/digest.ts';
import { randomSecret } from '../../secrets/random.ts';
import {
  deleteSession,
  findSession,
  insertSession,
  type NewSession,
  type Session,
} from '../../store/common/sessions.ts';
import { type User, updateLanguage } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import { bindForm, signForm, verifyForm } from '../common/signedForm.ts';
import { markOwnSession } from './seenWarnings.ts';

export type { Session };

/** The session of a browser's cookie; null if its user is not signed in. */
export async function currentSession({ db }: Context, cookie: string | null): Promise<Session | null> {
  return cookie === null ? null : findSession(db, sha256(cookie));
}

/** Keeps a user's language for browsers without a choice. A lost one costs a click, so errors are ignored. */
export async function saveLanguage({ db }: Context, { userId }: Pick<User, 'userId'>, language: string) {
  await updateLanguage(db, { userId, language }).catch(() => undefined);
}

export function signOutToken(context: Context, session: Session): string {
  return signForm(context, bindForm('sign-out', session));
}

export async function endOwnSession(
  context: Context,
  session: Session,
  formToken: string | undefined,
  request: RequestMeta,
): Promise<'signed_out' | 'stale'> {
  if (verifyForm(context, formToken, bindForm('sign-out', session)) === null) return 'stale';
  await deleteSession(context.db, { sessionHash: session.sessionHash, ...request });
  return 'signed_out';
}

/** The pre-login session ties sign-in forms to a browser (login CSRF). `newCookie` is null if the sent one is ours. */
export function preLoginSession({ keyRing }: Context, sent: string | null) {
  const isOurs = sent !== null && keyRing.verify('visit', sent) !== undefined;
  const cookie = isOurs ? sent : keyRing.sign('visit', randomBytes(16));
  const owner = { sessionHash: sha256(cookie), now: new Date() };
  return { owner, newCookie: isOurs ? null : cookie };
}

/** A sign-in's cookies, null for none: session (which ends), pre-login session, device, seen, language chosen there. */
export type SentCookies = Readonly<
  Record<'session' | 'preLogin' | 'device' | 'seen' | 'language', string | null>
>;

type Proof = Pick<NewSession, 'userId' | 'passwordHash' | 'externalId' | 'knownDevice'>;

/**
 * Opens a session. Call it last: there is a session only if its cookie is delivered. @returns the values of new cookies, and
 * the language that the user chose elsewhere, null for none; null altogether if the user was blocked or the proof is outdated
 */
export async function openSession(context: Context, proof: Proof, cookies: SentCookies, caller: Caller) {
  const { userId, knownDevice } = proof;
  const sessionCookie = randomSecret().toString('base64url');
  const sessionHash = sha256(sessionCookie);
  const earlierHash = cookies.session === null ? null : sha256(cookies.session);
  const origin = { ...deviceOf(caller.userAgent), network: truncateNetwork(caller.address) };
  const session = { sessionHash, earlierHash, ...proof, ...origin };
  const { valid, language: kept } = await insertSession(context.db, { ...session, ...caller });
  if (!valid) return null;
  const { language: chosen } = cookies;
  // Another user of this browser may have chosen it: it never replaces a kept one.
  if (chosen !== null && kept === null) await saveLanguage(context, { userId }, chosen);
  const seenCookie = knownDevice ? null : markOwnSession({ user: { userId }, sessionHash }, cookies.seen);
  return { sessionCookie, seenCookie, language: chosen === null ? kept : null };
}
