import type { Credentials } from '../rules/clientCredentials.ts';
import { tokenExpiresAt } from '../rules/lifetimes.ts';
import { limitsAmong, moneySources, rightData } from '../rules/rightData.ts';
import { grantedRights } from '../rules/scope.ts';
import { sha256 } from '../secrets/digest.ts';
import { parseToken } from '../secrets/tokens.ts';
import {
  findToken,
  findTokenAtStandby,
  type IntrospectionRequest,
  type LiveToken,
  type TokenResult,
} from '../store/introspection.ts';
import type { Context } from './context.ts';

/** What a resource server learns of a token (RFC 7662 section 2.2); of an inactive one nothing else. */
export type Introspection = { readonly active: false } | ReturnType<typeof describe>;

/**
 * Tells a resource server what an access token allows right now. Unknown, expired, annulled, revoked and blocked look the
 * same.
 *
 * @returns null when the caller is no resource server: only those may ask
 */
export async function introspect(
  context: Context,
  { id, secret }: Credentials,
  accessToken: string,
): Promise<Introspection | null> {
  const { grantId, hash } = parseToken('token', accessToken);
  const lookup = { resourceId: id, secretHash: sha256(secret ?? ''), grantId, tokenHash: hash };
  const { authenticated, token } = await find(context, lookup);
  if (!authenticated) return null;
  const isActive = token !== null && token.now < tokenExpiresAt(token.tokenIssuedAt);
  return isActive ? describe(token, context.currency) : { active: false };
}

/**
 * Asks a standby where there is one to ask, and the primary where that could not answer, or may not: a standby that may be
 * some milliseconds behind does not know yet what was just issued, so only what it finds is taken from it.
 */
async function find({ db, standbys }: Context, request: IntrospectionRequest): Promise<TokenResult> {
  const standby = standbys?.choose() ?? null;
  if (standbys === null || standby === null) return findToken(db, request);
  const found = await findTokenAtStandby(standby, request).catch((error) =>
    standbys.passOver(standby, error),
  );
  return found !== null && isFinal(found) ? found : findToken(db, request);

  function isFinal({ authenticated, token }: TokenResult): boolean {
    return standbys?.areStrict || token !== null || (authenticated && request.grantId === null);
  }
}

/** An active token, with its scope as data too. */
function describe(token: LiveToken, currency: string) {
  const granted = grantedRights(token);
  const rights = rightData(granted, currency);
  return {
    active: true,
    scope: token.scope, // as requested, byte for byte
    client_id: token.clientId,
    username: token.login,
    sub: token.userId,
    grant_id: token.grantId, // the same for each authorization of this user, client and instance name: budgets count by it
    token_type: 'bearer',
    ...(token.instanceName === null ? {} : { instance_name: token.instanceName }),
    iat: secondsSince1970(token.tokenIssuedAt),
    exp: secondsSince1970(tokenExpiresAt(token.tokenIssuedAt)),
    rights, // all that the token allows, so that `scope` need not be parsed: a target in it may look like a right
    payment_limits: limitsAmong(rights),
    money_sources: moneySources(granted),
  } as const;
}

function secondsSince1970(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
