import { tokenExpiresAt } from '../oauth/lifetime.ts';
import { referBearer } from '../secrets/bearer.ts';
import { sha256 } from '../secrets/digest.ts';
import { findResource } from '../store/resources.ts';
import { findTokens } from '../store/tokens.ts';
import type { Context } from './context.ts';

/** What a resource learns of a token (RFC 7662 section 2.2); of one that gives no right, only that it gives none. */
export type Introspection =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly scope: string;
      readonly client_id: string;
      readonly username: string;
      readonly sub: string;
      readonly token_type: 'bearer';
      readonly instance_name?: string;
      /** Seconds since 1970. */
      readonly iat: number;
      readonly exp: number;
    };

/** Whether these are the credentials of a resource, which alone may ask about tokens. */
export async function isResource({ db }: Context, id: string, secret: string): Promise<boolean> {
  return (await findResource(db, id, sha256(secret))) !== undefined;
}

/** Tells what an access token allows right now. Unknown, expired, annulled, revoked and blocked look the same. */
export async function introspect({ db }: Context, accessToken: string): Promise<Introspection> {
  const { grantId, hash } = referBearer('token', accessToken);
  if (grantId === null) return { active: false };
  const [token] = await findTokens(db, [{ grantId, tokenHash: hash }]);
  if (token === undefined) return { active: false };
  const expiresAt = tokenExpiresAt(token.tokenIssuedAt);
  if (token.now >= expiresAt) return { active: false };
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
  };
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
