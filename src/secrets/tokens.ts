import { type Digest, sha256 } from './digest.ts';
import { formatUuid, parseUuid } from './uuid.ts';

/**
 * Authorization codes and access tokens name the row of their grant: a prefix, then base64url of the `grant_id` (16 bytes)
 * and 32 secret bytes. The row is only where to look; the SHA-256 of the whole string, stored there, decides.
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

/** What a code or token is looked up by. */
export interface TokenLookup {
  /** Null for a token that we can't have made. */
  readonly grantId: string | null;
  readonly hash: Digest;
}

/** Never fails: a malformed token is judged like every other unknown one. */
export function parseToken(kind: TokenKind, token: string): TokenLookup {
  return { grantId: grantIdIn(kind, token), hash: sha256(token) };
}

function grantIdIn(kind: TokenKind, token: string): string | null {
  if (!token.startsWith(PREFIXES[kind])) return null;
  const encoded = token.slice(PREFIXES[kind].length);
  // 48 bytes fill 64 letters without a rest, so there is exactly one spelling of each.
  if (!/^[A-Za-z0-9_-]{64}$/.test(encoded)) return null;
  return formatUuid(Buffer.from(encoded, 'base64url').toString('hex', 0, GRANT_ID_BYTES));
}
