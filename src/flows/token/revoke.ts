import type { Caller } from '../../rules/common/caller.ts';
import { OAuthError } from '../../rules/common/error.ts';
import type { Credentials } from '../../rules/request/clientCredentials.ts';
import { sha256 } from '../../secrets/digest.ts';
import { locateToken } from '../../store/token/introspection.ts';
import { revokeToken } from '../../store/token/revocations.ts';
import type { Context } from '../common/context.ts';
import { NOT_AUTHENTICATED } from './exchange.ts';

/** Revokes a token (RFC 7009). Another application's stays, and no answer tells. @throws {OAuthError} `unauthorized_client` */
export async function revokeByClient(
  context: Context,
  { id, secret }: Credentials,
  accessToken: string,
  caller: Caller,
): Promise<void> {
  const { grantId, hash } = await locateToken(context.db, accessToken);
  const secretHash = secret === null ? null : sha256(secret);
  const given = { grantId, tokenHash: hash, clientId: id, secretHash, ...caller };
  const { authenticated, known } = await revokeToken(context.db, given);
  if (authenticated) return;
  const rule = 'unknown or blocked client, or wrong client_secret';
  throw new OAuthError('client_not_authenticated', NOT_AUTHENTICATED, { rule, clientId: known ? id : null });
}

/** The bearer of an access token revokes it; possession is the proof. */
export async function revokeByBearer(context: Context, accessToken: string, caller: Caller): Promise<void> {
  const { grantId, hash } = await locateToken(context.db, accessToken);
  if (grantId === null) return;
  await revokeToken(context.db, { grantId, tokenHash: hash, clientId: null, secretHash: null, ...caller });
}
