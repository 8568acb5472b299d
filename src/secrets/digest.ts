import { hash } from 'node:crypto';

/**
 * SHA-256, 32 bytes: what is stored in place of every secret that we made ourselves. Such a secret has 256
 * random bits, so a slow hash would protect nothing that this one doesn't. Passwords go to `password.ts`.
 */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** The S256 transformation of RFC 7636 section 4.2: base64url of the SHA-256 of the verifier. */
export function s256(codeVerifier: string): string {
  return sha256(codeVerifier).toString('base64url');
}
