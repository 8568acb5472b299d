import { loginKey } from '../../../rules/account/loginKey.ts';
import { checkExternalId, checkLogin, checkName } from '../../../rules/account/registration.ts';
import type { Caller } from '../../../rules/common/caller.ts';
import { OAuthError } from '../../../rules/common/error.ts';
import { MAX_LOGIN_BYTES, MAX_NAME_CHARACTERS } from '../../../rules/common/limits.ts';
import { lookAlikeProblem, skeleton } from '../../../rules/common/lookAlike.ts';
import type { OAuthRuleId } from '../../../rules/common/refusals.ts';
import { randomHex } from '../../../secrets/random.ts';
import { emit } from '../../../signals/events.ts';
import {
  findUserByExternalId,
  insertExternalUser,
  type User,
  updateExternalUser,
} from '../../../store/common/users.ts';
import type { Context } from '../../common/context.ts';
import { findUserInfo, type Provider, type ProviderClaims } from '../../common/provider.ts';
import { knownDevice, newDeviceCookie } from '../device.ts';
import { openSession, type SentCookies } from '../session.ts';

/** The user with this `sub`, by the provider's present name, but never one of the same login: logins are not the provider's. */
async function findOrCreateUser(
  context: Context,
  provider: Provider,
  answer: ProviderClaims,
  caller: Caller,
) {
  const { sub: externalId } = answer;
  if (!passes(checkExternalId, externalId))
    throw refused('sign_in_user_unusable', 'the sub is not a valid external id: 1 to 255 visible characters');
  const found = await findUserByExternalId(context.db, { externalId });
  if (found === null && !provider.createsUsers)
    throw refused(
      'sign_in_user_unknown',
      'no user has this sub as external id (SIGN_IN_NEW_USERS is refuse)',
    );
  // A login that is the `sub` was not known: it is asked for again.
  const isNamed = found !== null && found.login !== externalId;
  const isWhole = answer.name && (isNamed || answer.preferred_username);
  const info = isWhole ? {} : await findUserInfo(provider, answer, caller.decideBy - 1_000); // which the statements need
  const login = answer.preferred_username || info.preferred_username;
  const given = { externalId, login, name: nameIn(answer.name || info.name) };
  return found === null ? register(context, given, caller) : rename(context, found, given, caller);
}

type Given = Readonly<{ externalId: string; login: unknown; name: string | null }>;

async function rename(context: Context, found: User, { externalId, login, name }: Given, caller: Caller) {
  const known = { ...found, key: loginKey(found.login), alike: [], ...caller };
  const keys = found.login === externalId && login !== externalId ? keysOf(context, login) : null;
  const named = keys && { ...keys, name: name ?? (found.name === externalId ? keys.login : found.name) };
  const both =
    named && (await updateExternalUser(context.db, { ...known, ...named, fields: ['login', 'name'] }));
  if (both !== null || name === null || name === found.name) return both ?? found;
  return (await updateExternalUser(context.db, { ...known, name, fields: ['name'] })) ?? found;
}

/** A login with its key and what it looks like; null for one that no user may have. */
function keysOf({ brand, baseUrl }: Context, login: unknown) {
  const ourNames = [...Object.values(brand.name), new URL(baseUrl).hostname];
  // A login like an option could not be typed in a command.
  if (!passes(checkLogin, login) || login.startsWith('-') || lookAlikeProblem(login, [], ourNames))
    return null;
  const alike = [login, login.toLowerCase(), login.toUpperCase()].map((text) => loginKey(skeleton(text)));
  return { login, key: loginKey(login), alike };
}

async function register(context: Context, { externalId, login: own, name }: Given, caller: Caller) {
  const { db } = context;
  // The last two are free, whoever took the others: a long `sub` fits into no login.
  for (const login of [own, externalId, `${externalId}-${randomHex(4)}`, `user-${randomHex(8)}`]) {
    const keys = keysOf(context, login);
    const made =
      keys && (await insertExternalUser(db, { ...keys, name: name ?? keys.login, externalId, ...caller }));
    if (made !== null) return made;
  }
  const made = await findUserByExternalId(db, { externalId }); // by another request meanwhile
  if (made === null)
    throw refused('sign_in_user_unusable', 'preferred_username and sub are both logins of other users');
  return made;
}

/** A claim as a user's name, cut between two graphemes; null for none, and for one that no page could show. */
function nameIn(claim: unknown): string | null {
  if (typeof claim !== 'string') return null;
  const read = claim.slice(0, MAX_LOGIN_BYTES).normalize('NFC'); // which can take quadratic time
  const visible = read.replaceAll(/[\p{Bidi_Control}\u00AD\u200B\u2060]/gu, '');
  const whole = visible.replaceAll(/[\s\p{White_Space}]+/gu, ' ').trim();
  const most = [...whole].slice(0, MAX_NAME_CHARACTERS).join('').length;
  const name = whole.slice(0, new Intl.Segmenter().segment(whole).containing(most)?.index).trim();
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
export async function openProviderSession(
  context: Context,
  provider: Provider,
  claims: ProviderClaims,
  cookies: SentCookies,
  caller: Caller,
) {
  const { sub: externalId } = claims;
  const { userId, login, status } = await findOrCreateUser(context, provider, claims, caller);
  // The external id has the place of the password hash: a browser is known once its user has signed in at the provider.
  const key = loginKey(login);
  const device = await knownDevice(context, 'password', key, cookies.device, async () => externalId);
  const proof = { userId, passwordHash: null, externalId, knownDevice: device !== null };
  const opened = status === 'active' ? await openSession(context, proof, cookies, caller) : null;
  if (opened === null) throw refused('user_blocked', 'the user is blocked');
  emit('signIn', 'signed_in');
  return { ...opened, deviceCookie: newDeviceCookie(context, 'password', key, externalId, cookies.device) };
}
