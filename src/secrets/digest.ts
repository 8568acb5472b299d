import { hash } from 'node:crypto';

/** A SHA-256 in PostgreSQL's form of 32 bytes: `\x` and 64 hex digits, compared and stored without a conversion. */
export type Digest = `\\x${string}`;

/** Replaces each of our secrets in the database: 256 random bits need no slow hash. Passwords: `password.ts`. */
export function sha256(data: string | Uint8Array): Digest {
  return `\\x${hash('sha256', data, 'hex')}`;
}

/** The 64 hex digits of a digest. */
export function hexOf(digest: Digest): string {
  return digest.slice(2);
}

export function bytesOf(digest: Digest): Buffer {
  return Buffer.from(hexOf(digest), 'hex');
}

/** The S256 transformation of RFC 7636 section 4.2: base64url of the verifier's SHA-256. */
export function s256(codeVerifier: string): string {
  return hash('sha256', codeVerifier, 'base64url');
}
