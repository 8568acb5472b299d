import { hexOf, sha256 } from './digest.ts';
import { randomSecret } from './random.ts';

/**
 * A code or token is a prefix, then base64url of `grant_id` (16 bytes), user slot (1 byte) and 31 secret bytes. The id only
 * finds the row; the SHA-256 of the whole string, stored there, decides.
 */
const PREFIXES = { code: 'assent_ac_', token: 'assent_at_' } as const;

const GRANT_ID_BYTES = 16;

/** Of 256 random bits, found by its hash alone. */
export const newOperatorToken = () => `assent_op_${randomSecret().toString('base64url')}`;

export const isOperatorToken = (text: string) => /^assent_op_[A-Za-z0-9_-]{43}$/.test(text);

/**
 * The user's one of 256 equal slots, 0 to 255. Nothing reads it yet: tokens live for three years, so they already name the
 * future PostgreSQL of their row among several (docs/operate/scaling.md).
 */
export function shardOf(userId: string): number {
  return parseUuid(userId).readUInt8();
}

export type TokenKind = keyof typeof PREFIXES;

/** @param secret 32 bytes; the slot replaces the first @returns 74 characters of `[A-Za-z0-9_-]` */
export function formatToken(
  kind: TokenKind,
  row: { grantId: string; userSlot: number },
  secret: Buffer,
): string {
  const bytes = [parseUuid(row.grantId), Buffer.of(row.userSlot), secret.subarray(1)];
  return PREFIXES[kind] + Buffer.concat(bytes).toString('base64url');
}

/** The key for finding a code or token. Never fails: a malformed one has no location, and counts as unknown. */
export function parseToken(kind: TokenKind, token: string) {
  const hash = sha256(token);
  const encoded = token.startsWith(PREFIXES[kind]) ? token.slice(PREFIXES[kind].length) : '';
  // 48 bytes fill 64 letters exactly, so each has only one spelling.
  if (!/^[A-Za-z0-9_-]{64}$/.test(encoded)) return { grantId: null, userSlot: null, hash };
  const bytes = Buffer.from(encoded, 'base64url');
  const grantId = formatUuid(bytes.toString('hex', 0, GRANT_ID_BYTES));
  return { grantId, userSlot: bytes.readUInt8(GRANT_ID_BYTES), hash };
}

/** The uuid of these three's only grant (contract 1.5, section 8), from a SHA-256 over JSON; null for no instance. */
export function deriveGrantId(userId: string, clientId: string, instanceName: string | null): string {
  return formatUuid(hexOf(sha256(JSON.stringify([userId, clientId, instanceName]))).slice(0, 32));
}

/** @param hex 32 hex digits @returns the uuid in PostgreSQL's text form */
export function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** @param uuid in PostgreSQL's form @returns its 16 bytes */
function parseUuid(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** In PostgreSQL's form. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
