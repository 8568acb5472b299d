import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { decideBy } from './deadline.ts';

/** Whose request it is, for the audit trail and the counters of failures. */
export function callerOf(request: FastifyRequest) {
  return { address: addressOf(request), reference: request.id, decideBy: decideBy(request) };
}

/** An IPv4 address reads the same whichever kind of socket it came to; what a proxy says may be no address at all. */
export function addressOf({ ip }: { ip?: string | undefined }): string {
  const address = (ip ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? 'unknown' : address;
}
