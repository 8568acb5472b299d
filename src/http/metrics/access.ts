import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** Whether a request carries the token that the metrics ask for, as `Authorization: Bearer` (RFC 6750 section 2.1). */
export function mayRead({ headers }: FastifyRequest, token: string | null): boolean {
  if (token === null) return true;
  const [, sent] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
