import { hexOf, sha256 } from './digest.ts';
import { formatUuid } from './uuid.ts';

/** The uuid of these three's only grant (contract 1.5, section 8), from a SHA-256 over JSON; null for no instance. */
export function grantIdFor(userId: string, clientId: string, instanceName: string | null): string {
  return formatUuid(hexOf(sha256(JSON.stringify([userId, clientId, instanceName]))).slice(0, 32));
}
