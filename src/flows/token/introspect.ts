import { tokenExpiresAt } from '../../rules/common/lifetimes.ts';
import type { Credentials } from '../../rules/request/clientCredentials.ts';
import { limitsAmong, moneySources, type RightJson, rightData } from '../../rules/scope/rightData.ts';
import type { MoneySource } from '../../rules/scope/rights.ts';
import { grantedRights } from '../../rules/scope/scope.ts';
import { sha256 } from '../../secrets/digest.ts';
import { parseToken } from '../../secrets/tokens.ts';
import { findOwnToken, findToken, type IssuedToken } from '../../store/token/introspection.ts';
import type { Context } from '../common/context.ts';

/** The answer about a token (RFC 7662 section 2.2), by its members' names in JSON. */
type Introspection = { readonly active: false } | ActiveToken;

export interface ActiveToken {
  readonly active: true;
  /** As granted: the requested one byte for byte, unless it was completed or its limits were lowered. */
  readonly scope: string;
  readonly client_id: string;
  /** The user's login; `sub` is the user's id. */
  readonly username: string;
  readonly sub: string;
  /** The user's id in another system; omitted for none. */
  readonly external_id?: string;
  /** The same for each authorization of this user, client and instance name: budgets are counted by it. */
  readonly grant_id: string;
  readonly token_type: 'bearer';
  readonly instance_name?: string;
  /** Seconds since 1970, like `exp`. */
  readonly iat: number;
  readonly exp: number;
  /** The token's rights that have not ended, ready parsed: a target in `scope` may resemble a right. */
  readonly rights: readonly RightJson[];
  readonly payment_limits: readonly RightJson[];
  readonly money_sources: readonly MoneySource[];
}

const INACTIVE = { active: false } as const;

/**
 * A token's rights (RFC 7662 section 2.2): an unknown token, an expired and a revoked one get the same answer.
 * @returns `known` for a caller that is not an active resource server with its right secret: whether it is registered
 */
export async function introspect(
  context: Context,
  { id, secret }: Credentials,
  accessToken: string,
): Promise<Introspection | { readonly known: boolean | null }> {
  const { authenticated, known, token } = await findToken(context.db, lookupOf(id, secret, accessToken));
  return authenticated ? describeToken(context, token) : { known };
}

/**
 * {@link introspect} also for the token's application: whether its access still holds, without who the user is. Any other token
 * is inactive. @returns `known` for a caller that is neither an active resource server nor an active application with a secret
 */
export async function introspectForAny(context: Context, credentials: Credentials, accessToken: string) {
  const answer = await introspect(context, credentials, accessToken);
  if (!('known' in answer) || answer.known) return answer;
  const { id, secret } = credentials;
  const { authenticated, token } = await findOwnToken(context.db, lookupOf(id, secret, accessToken));
  if (!authenticated) return answer;
  const own = describeToken(context, token);
  if (!own.active) return own;
  const { username, sub, external_id, ...access } = own;
  return access;
}

function lookupOf(callerId: string, secret: string | null, accessToken: string) {
  const { grantId, hash } = parseToken('token', accessToken);
  return { callerId, secretHash: sha256(secret ?? ''), grantId, tokenHash: hash };
}

function describeToken(context: Context, token: IssuedToken | null): Introspection {
  if (token === null) return INACTIVE;
  const expiresAt = tokenExpiresAt(token.tokenIssuedAt);
  if (token.now >= expiresAt) return INACTIVE;
  const granted = grantedRights(token, context.currency, token.now);
  const rights = rightData(granted);
  return {
    active: true,
    scope: token.scope,
    client_id: token.clientId,
    username: token.login,
    sub: token.userId,
    ...(token.externalId === null ? {} : { external_id: token.externalId }),
    grant_id: token.grantId,
    token_type: 'bearer',
    ...(token.instanceName === null ? {} : { instance_name: token.instanceName }),
    iat: secondsSince1970(token.tokenIssuedAt),
    exp: secondsSince1970(expiresAt),
    rights,
    payment_limits: limitsAmong(rights),
    money_sources: moneySources(granted),
  };
}

const secondsSince1970 = (time: Date) => Math.floor(time.getTime() / 1000);
