import { tokenExpiresAt } from '../../rules/common/lifetimes.ts';
import type { Credentials } from '../../rules/request/clientCredentials.ts';
import { limitsAmong, moneySources, rightData } from '../../rules/scope/rightData.ts';
import { grantedRights } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { parseToken } from '../../secrets/tokens.ts';
import { findToken, type IssuedToken } from '../../store/token/introspection.ts';
import type { Context } from '../common/context.ts';

const INACTIVE = { active: false } as const;

/** A token's rights for a resource server (RFC 7662 section 2.2): unknown, expired, revoked … look the same. Null for others. */
export async function introspect(context: Context, { id, secret }: Credentials, accessToken: string) {
  const { grantId, hash } = parseToken('token', accessToken);
  const lookup = { resourceId: id, secretHash: sha256(secret ?? ''), grantId, tokenHash: hash };
  const { authenticated, token } = await findToken(context.db, lookup);
  if (!authenticated) return null;
  if (token === null) return INACTIVE;
  const expiresAt = tokenExpiresAt(token.tokenIssuedAt);
  return token.now < expiresAt ? describe(token, expiresAt, context.currency) : INACTIVE;
}

function describe(token: IssuedToken, expiresAt: Date, currency: string) {
  const granted = grantedRights(token, currency);
  const rights = rightData(granted);
  return {
    active: true,
    scope: token.scope, // as requested, byte for byte
    client_id: token.clientId,
    username: token.login,
    sub: token.userId,
    ...(token.externalId === null ? {} : { external_id: token.externalId }),
    grant_id: token.grantId, // the same for each authorization of this user, client and instance name: budgets are counted by it
    token_type: 'bearer',
    ...(token.instanceName === null ? {} : { instance_name: token.instanceName }),
    iat: secondsSince1970(token.tokenIssuedAt),
    exp: secondsSince1970(expiresAt),
    rights, // the token's rights, ready parsed: a target in `scope` may resemble a right
    payment_limits: limitsAmong(rights),
    money_sources: moneySources(granted),
  } as const;
}

function secondsSince1970(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
