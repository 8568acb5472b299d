import { hexOf, sha256 } from './digest.ts';
import { formatUuid } from './uuid.ts';

const UUID_DIGITS = 32;

/**
 * The primary key of a user's grant to an application instance, derived from the three so that there can't be two (contract
 * 1.5 and section 8). JSON makes the encoding unambiguous, with null for no instance.
 *
 * @returns a uuid: the first 16 bytes of a SHA-256
 */
export function grantIdFor(userId: string, clientId: string, instanceName: string | null): string {
  return formatUuid(hexOf(sha256(JSON.stringify([userId, clientId, instanceName]))).slice(0, UUID_DIGITS));
}
