import type { IDToken } from 'openid-client';
import { loginKey } from '../../rules/account/loginKey.ts';
import { checkExternalId, checkLogin, checkName } from '../../rules/account/registration.ts';
import type { Caller } from '../../rules/common/caller.ts';
import { invalidRequest } from '../../rules/common/error.ts';
import type { RuleId } from '../../rules/common/remedies.ts';
import { randomHex } from '../../secrets/random.ts';
import { findUserByExternalId, insertExternalUser, type User } from '../../store/common/users.ts';
import type { Context } from '../common/context.ts';
import type { Provider } from '../common/provider.ts';

/** The user with this `sub`, never one of the same login: logins are not the provider's. */
export async function userOf(
  { db }: Context,
  { createsUsers }: Provider,
  { sub: externalId, preferred_username, name }: IDToken,
  caller: Caller,
): Promise<User> {
  if (!passes(checkExternalId, externalId))
    throw refused('sign_in_user_unusable', 'the sub is no external id: 1 to 128 characters that can be seen');
  const found = await findUserByExternalId(db, { externalId });
  if (found !== null) return found;
  if (!createsUsers)
    throw refused(
      'sign_in_user_unknown',
      'no user has this sub as external id (SIGN_IN_NEW_USERS is refuse)',
    );
  // A login like an option could not be typed in a command; the last is free, whoever took the others.
  for (const login of [preferred_username, externalId, `${externalId}-${randomHex(4)}`]) {
    if (!passes(checkLogin, login) || login.startsWith('-')) continue;
    const user = { login, key: loginKey(login), name: passes(checkName, name) ? name : login, externalId };
    const made = await insertExternalUser(db, { ...user, ...caller });
    if (made !== null) return made;
  }
  const made = await findUserByExternalId(db, { externalId }); // by another request meanwhile
  if (made === null)
    throw refused('sign_in_user_unusable', 'preferred_username and sub are logins of others');
  return made;
}

function passes(check: (text: string) => void, text: unknown): text is string {
  try {
    if (typeof text === 'string') check(text);
    return typeof text === 'string';
  } catch {
    return false;
  }
}

/** A sign-in at the provider that can't be completed, shown as a page. */
export function refused(ruleId: RuleId, rule: string) {
  return invalidRequest(ruleId, 'The sign-in could not be completed.', { rule });
}
