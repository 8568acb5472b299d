import { isIP, isIPv4 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../rules/common/caller.ts';
import { DECISION_MS } from '../../rules/common/timeouts.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** {@link addressOf}, which reads the headers of proxies once. */
    address?: string;
  }
}

export function callerOf(request: FastifyRequest): Caller {
  return {
    address: addressOf(request),
    reference: request.id,
    userAgent: request.headers['user-agent'] ?? null,
    decideBy: request.readAt + DECISION_MS,
  };
}

/** The IP address: IPv4 also where the socket is IPv6; `unknown` where a proxy sent something else. */
export function addressOf(sender: { ip?: string | undefined; address?: string }): string {
  sender.address ??= normalize(sender.ip ?? '');
  return sender.address;
}

function normalize(ip: string): string {
  if (isIPv4(ip)) return ip;
  const address = ip.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? 'unknown' : address;
}
