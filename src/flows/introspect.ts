import type { Credentials } from '../rules/clientCredentials.ts';
import { tokenExpiresAt } from '../rules/lifetimes.ts';
import { type LimitData, limitsAmong, moneySources, type RightData, rightData } from '../rules/rightData.ts';
import type { MoneySource } from '../rules/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { parseToken } from '../secrets/tokens.ts';
import { findToken, type LiveToken } from '../store/tokens.ts';
import type { Context } from './context.ts';
import { rightsOf } from './grants.ts';

/** What a resource server learns of a token (RFC 7662 section 2.2); of an inactive one nothing else. */
export type Introspection = { readonly active: false } | ActiveToken;

/** An active token, with its scope as data too. Times in seconds since 1970. */
export interface ActiveToken {
  readonly active: true;
  /** As requested, byte for byte. */
  readonly scope: string;
  readonly client_id: string;
  readonly username: string;
  readonly sub: string;
  readonly token_type: 'bearer';
  /** Left out for an authorization without instance. */
  readonly instance_name?: string;
  readonly iat: number;
  readonly exp: number;
  /** All that the token allows, so that `scope` need not be parsed: a target in it may look like a right. */
  readonly rights: readonly RightData[];
  /** Those of `rights` that spend. */
  readonly payment_limits: readonly LimitData[];
  /** Where the money may come from; empty when nothing may be spent. */
  readonly money_sources: readonly MoneySource[];
}

/**
 * Tells a resource server what an access token allows right now. Unknown, expired, annulled, revoked and blocked look the
 * same.
 *
 * @returns null when the caller is no resource server: only those may ask
 */
export async function introspect(
  { db, currency }: Context,
  { id, secret }: Credentials,
  accessToken: string,
): Promise<Introspection | null> {
  const { grantId, hash } = parseToken('token', accessToken);
  const lookup = { resourceId: id, secretHash: sha256(secret ?? ''), grantId, tokenHash: hash };
  const { authenticated, token } = await findToken(db, lookup);
  if (!authenticated) return null;
  return token === null ? { active: false } : describe(token, currency);
}

function describe(token: LiveToken, currency: string): Introspection {
  const expiresAt = tokenExpiresAt(token.tokenIssuedAt);
  if (token.now >= expiresAt) return { active: false };
  const granted = rightsOf(token);
  const rights = rightData(granted, currency);
  return {
    active: true,
    scope: token.scope,
    client_id: token.clientId,
    username: token.login,
    sub: token.userId,
    token_type: 'bearer',
    ...(token.instanceName === null ? {} : { instance_name: token.instanceName }),
    iat: seconds(token.tokenIssuedAt),
    exp: seconds(expiresAt),
    rights,
    payment_limits: limitsAmong(rights),
    money_sources: moneySources(granted),
  };
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
