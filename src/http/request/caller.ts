import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../rules/common/caller.ts';
import { DECISION_MS } from '../../rules/common/timeouts.ts';

export function callerOf(request: FastifyRequest): Caller {
  return {
    address: addressOf(request),
    reference: request.id,
    userAgent: request.headers['user-agent'] ?? null,
    decideBy: request.readAt + DECISION_MS,
  };
}

/** The IP address: IPv4 even on an IPv6 socket; `unknown` if a proxy sent something else. */
export function addressOf({ ip }: { ip?: string | undefined }): string {
  const address = (ip ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? 'unknown' : address;
}
