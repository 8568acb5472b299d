import { tokenExpiresAt } from '../../rules/common/lifetimes.ts';
import type { Credentials } from '../../rules/request/clientCredentials.ts';
import { limitsAmong, moneySources, rightData } from '../../rules/scope/rightData.ts';
import { grantedRights } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { parseToken } from '../../secrets/tokens.ts';
import { findToken } from '../../store/token/introspection.ts';
import type { Context } from '../common/context.ts';

const INACTIVE = { active: false } as const;

/**
 * The answer about a token (RFC 7662 section 2.2): an unknown token, an expired and a revoked one get the same.
 * @returns `known` for a caller that is not an active resource server with its right secret: whether it is registered
 */
export async function introspect(context: Context, { id, secret }: Credentials, accessToken: string) {
  const { grantId, hash } = parseToken('token', accessToken);
  const lookup = { resourceId: id, secretHash: sha256(secret ?? ''), grantId, tokenHash: hash };
  const { authenticated, known, token } = await findToken(context.db, lookup);
  if (!authenticated) return { known };
  if (token === null) return INACTIVE;
  const expiresAt = tokenExpiresAt(token.tokenIssuedAt);
  if (token.now >= expiresAt) return INACTIVE;
  const granted = grantedRights(token, context.currency);
  const rights = rightData(granted);
  return {
    active: true,
    /** As granted: the requested one byte for byte, unless it was completed or its sums were lowered. */
    scope: token.scope,
    client_id: token.clientId,
    username: token.login,
    sub: token.userId,
    /** The user's id in another system. */
    ...(token.externalId === null ? {} : { external_id: token.externalId }),
    /** The same for each authorization of this user, client and instance name: budgets are counted by it. */
    grant_id: token.grantId,
    token_type: 'bearer',
    ...(token.instanceName === null ? {} : { instance_name: token.instanceName }),
    iat: secondsSince1970(token.tokenIssuedAt),
    exp: secondsSince1970(expiresAt),
    /** Ready parsed: a target in `scope` may resemble a right. */
    rights,
    payment_limits: limitsAmong(rights),
    money_sources: moneySources(granted),
  };
}

const secondsSince1970 = (time: Date) => Math.floor(time.getTime() / 1000);
