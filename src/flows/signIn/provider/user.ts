import { loginKey } from '../../../rules/account/loginKey.ts';
import { checkExternalId, checkLogin, checkName } from '../../../rules/account/registration.ts';
import type { Caller } from '../../../rules/common/caller.ts';
import { OAuthError } from '../../../rules/common/error.ts';
import { MAX_LOGIN_BYTES } from '../../../rules/common/limits.ts';
import { lookAlikeProblem, skeleton } from '../../../rules/common/lookAlike.ts';
import type { OAuthRuleId } from '../../../rules/common/refusals.ts';
import { randomHex } from '../../../secrets/random.ts';
import { tell } from '../../../signals/happenings.ts';
import { findUserByExternalId, insertExternalUser, updateExternalName } from '../../../store/common/users.ts';
import type { Context } from '../../common/context.ts';
import { findUserInfo, type Provider, type ProviderAnswer } from '../../common/provider.ts';
import { knownDevice, newDeviceCookie } from '../device.ts';
import { openSession, type SentCookies } from '../session.ts';

/** The user with this `sub`, by the provider's present name, but never one of the same login: logins are not the provider's. */
export async function userOf(context: Context, provider: Provider, answer: ProviderAnswer, caller: Caller) {
  const { sub: externalId } = answer;
  if (!passes(checkExternalId, externalId))
    throw refused('sign_in_user_unusable', 'the sub is not a valid external id: 1 to 255 visible characters');
  const found = await findUserByExternalId(context.db, { externalId });
  if (found === null && !provider.createsUsers)
    throw refused(
      'sign_in_user_unknown',
      'no user has this sub as external id (SIGN_IN_NEW_USERS is refuse)',
    );
  const isWhole = answer.name && (found ?? answer.preferred_username);
  const info = isWhole ? {} : await findUserInfo(provider, answer, caller.decideBy - 1_000); // which the statements need
  const name = nameIn(answer.name || info.name);
  const login = answer.preferred_username || info.preferred_username;
  if (found === null) return register(context, { externalId, login, name }, caller);
  if (name !== null && name !== found.name)
    await updateExternalName(context.db, { userId: found.userId, name, ...caller });
  return found;
}

async function register(
  { db, brand, baseUrl }: Context,
  { externalId, login: own, name }: Readonly<{ externalId: string; login: unknown; name: string | null }>,
  caller: Caller,
) {
  const ourNames = [...Object.values(brand.name), new URL(baseUrl).hostname];
  // The last two are free, whoever took the others: a long `sub` fits into no login.
  for (const login of [own, externalId, `${externalId}-${randomHex(4)}`, `user-${randomHex(8)}`]) {
    // A login like an option could not be typed in a command.
    if (!passes(checkLogin, login) || login.startsWith('-') || lookAlikeProblem(login, [], ourNames))
      continue;
    const alike = [login, login.toLowerCase(), login.toUpperCase()].map((text) => loginKey(skeleton(text)));
    const user = { login, key: loginKey(login), alike, name: name ?? login, externalId };
    const made = await insertExternalUser(db, { ...user, ...caller });
    if (made !== null) return made;
  }
  const made = await findUserByExternalId(db, { externalId }); // by another request meanwhile
  if (made === null)
    throw refused('sign_in_user_unusable', 'preferred_username and sub are both logins of other users');
  return made;
}

/** A claim as the name of a user; null for none, and for one that no page could show. */
function nameIn(claim: unknown): string | null {
  if (typeof claim !== 'string' || claim.length > MAX_LOGIN_BYTES) return null; // normalizing can take quadratic time
  const visible = claim.normalize('NFC').replaceAll(/[\p{Bidi_Control}\u00AD\u200B\u2060]/gu, '');
  const name = visible.replaceAll(/[\s\p{White_Space}]+/gu, ' ').trim();
  return passes(checkName, name) ? name : null;
}

function passes(check: (text: string) => void, text: unknown): text is string {
  try {
    if (typeof text === 'string') check(text);
    return typeof text === 'string';
  } catch {
    return false;
  }
}

/** A sign-in at the provider that can't be completed, shown as a page; `user_blocked` has another code at an exchange. */
export function refused(ruleId: OAuthRuleId, rule: string) {
  return new OAuthError(ruleId, 'The sign-in could not be completed.', { code: 'invalid_request', rule });
}

/** Opens a session for the user of an answer. @throws {OAuthError} for a user who is blocked */
export async function openFor(
  context: Context,
  provider: Provider,
  claims: ProviderAnswer,
  cookies: SentCookies,
  caller: Caller,
) {
  const { sub: externalId } = claims;
  const { userId, login, status } = await userOf(context, provider, claims, caller);
  // The external id has the place of the password hash: a browser is known once its user has signed in at the provider.
  const key = loginKey(login);
  const device = await knownDevice(context, 'password', key, cookies.device, async () => externalId);
  const proof = { userId, passwordHash: null, externalId, knownDevice: device !== null };
  const opened = status === 'active' ? await openSession(context, proof, cookies, caller) : null;
  if (opened === null) throw refused('user_blocked', 'the user is blocked');
  tell('signIn', 'signed_in');
  return { ...opened, deviceCookie: newDeviceCookie(context, 'password', key, externalId, cookies.device) };
}
