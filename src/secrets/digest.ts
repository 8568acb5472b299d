import { hash } from 'node:crypto';

/**
 * A SHA-256 the way PostgreSQL writes 32 bytes: `\x` and 64 hex digits. Digests are made, compared and stored many
 * times for each request; as text they are all that without a detour through bytes.
 */
export type Digest = `\\x${string}`;

const PREFIX = '\\x';

/**
 * What is stored in place of every secret that we made ourselves. Such a secret has 256 random bits, so a slow hash
 * would protect nothing that this one doesn't. Passwords go to `password.ts`.
 */
export function sha256(data: string | Uint8Array): Digest {
  return `${PREFIX}${hash('sha256', data, 'hex')}`;
}

/** The digits of a digest alone. */
export function hexOf(digest: Digest): string {
  return digest.slice(PREFIX.length);
}

/** @returns 32 bytes */
export function bytesOf(digest: Digest): Buffer {
  return Buffer.from(hexOf(digest), 'hex');
}

/** The S256 transformation of RFC 7636 section 4.2: base64url of the SHA-256 of the verifier. */
export function s256(codeVerifier: string): string {
  return hash('sha256', codeVerifier, 'base64url');
}
