import { type Digest, sha256 } from './digest.ts';
import { formatUuid, parseUuid } from './uuid.ts';

/**
 * Codes and access tokens name the row of their grant: prefix, then base64url of the `grant_id` (16 bytes)
 * and 32 secret bytes. The named row is only a place to look; what is stored there, the SHA-256 of the
 * whole string, decides.
 */
const PREFIXES = { code: 'assent_ac_', token: 'assent_at_' } as const;

const GRANT_ID_BYTES = 16;

export type TokenKind = keyof typeof PREFIXES;

/**
 * @param grantId uuid
 * @param secret 32 bytes
 * @returns 74 characters of `[A-Za-z0-9_-]`
 */
export function formatToken(kind: TokenKind, grantId: string, secret: Buffer): string {
  return PREFIXES[kind] + Buffer.concat([parseUuid(grantId), secret]).toString('base64url');
}

/** What a code or token is looked up by. `grantId` is null when it is none that we could have made. */
export interface TokenLookup {
  readonly grantId: string | null;
  readonly hash: Digest;
}

/** Never fails: what is malformed is unknown, and is judged like everything unknown. */
export function parseToken(kind: TokenKind, bearer: string): TokenLookup {
  return { grantId: grantIdOf(kind, bearer), hash: sha256(bearer) };
}

function grantIdOf(kind: TokenKind, bearer: string): string | null {
  if (!bearer.startsWith(PREFIXES[kind])) return null;
  const encoded = bearer.slice(PREFIXES[kind].length);
  // 48 bytes fill 64 letters without a rest, so there is exactly one spelling of each.
  if (!/^[A-Za-z0-9_-]{64}$/.test(encoded)) return null;
  return formatUuid(Buffer.from(encoded, 'base64url').toString('hex', 0, GRANT_ID_BYTES));
}
