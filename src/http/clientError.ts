import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pageHeaders, renderPage } from './views.ts';

/**
 * Answers what is not HTTP, or is more of it than we read: Node gives up before there is a request, so the
 * page is written to the socket by hand.
 */
export function answerClientError(this: FastifyInstance, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const reference = randomBytes(5).toString('hex');
  this.log.info({ ref: reference, status: 400, rule: `unreadable HTTP: ${error.code}` }, 'request');
  const page = {
    name: 'error',
    title: 'This request can’t be read',
    text: TEXT,
    code: 'invalid_request',
    reference,
  } as const;
  const body = renderPage(page);
  const headers = { ...pageHeaders(page), 'content-length': Buffer.byteLength(body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`);
}

const TEXT = 'The request is too long, or is not HTTP.';
