import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../rules/common/caller.ts';
import { REQUEST_DEADLINE_MS } from '../rules/common/timeouts.ts';

export function callerOf(request: FastifyRequest): Caller {
  return {
    address: ipAddressOf(request),
    reference: request.id,
    userAgent: request.headers['user-agent'] ?? null,
    decideBy: request.readAt + REQUEST_DEADLINE_MS,
  };
}

const MAPPED = /^::ffff:(?=\d+\.)/i;

/** The IP address: IPv4 even on an IPv6 socket; `unknown` if a proxy sent something else. */
export function ipAddressOf({ ip }: { ip?: string | undefined }): string {
  const address = (ip ?? '').replace(MAPPED, '');
  if (isIP(address) === 0) return 'unknown';
  if (!/^[0:]+:ffff:[\da-f:.]+$/i.test(address)) return address;
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(MAPPED, ''); // IPv4 in another spelling
}

/** An address with a port, in brackets or quotes (RFC 7239 section 6). */
const HOP = /^"?(?:\[([\da-f:.]+)\]|(\d+(?:\.\d+){3}))(?::\w+)?"?$/i;

/** Leaves only addresses in `X-Forwarded-For`, before anything reads it. */
export function normalizeForwardedFor({ headers }: IncomingMessage): void {
  const hops = headers['x-forwarded-for'];
  if (typeof hops !== 'string') return;
  headers['x-forwarded-for'] = hops.replaceAll(/[^,]+/g, (hop) => hop.trim().replace(HOP, '$1$2'));
}
