import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { OAuthError } from '../rules/common/error.ts';
import { normalizeForwardedFor } from './caller.ts';

/** Node before 22.23.2, 24.18.1 and 26.5.1 drops headers above a thousand, but uses them for framing (CVE-2026-58044). */
const MAX_HEADERS = 999;

/** Node's code for what it could not read, by the stand-in of the request. */
export const parserErrorCodeByRequest = new WeakMap<IncomingMessage, string>();

/** Connections with malformed HTTP: further input is ignored. */
const broken = new WeakSet<Socket>();

/** One response per request, in order; closes the connection if a proxy may have framed it differently, or it is broken. */
export function preventSmuggling(app: FastifyInstance): void {
  app.server.prependListener('request', (request) => {
    normalizeForwardedFor(request);
    request.method ??= 'QUERY'; // the only method that early versions of Node 20.19 and 22 parse without its name
  });
  app.addHook('onRequest', ({ raw, headers }, reply, done) => {
    const problem = problemOf(raw);
    // Node discards pipelined bytes after an `Upgrade` header, and HTTP/1.0 has no chunks (RFC 9112 section 6.1).
    if (problem || headers.upgrade || (raw.httpVersion === '1.0' && headers['transfer-encoding']))
      reply.header('connection', 'close');
    if (problem?.statusCode === 415) reply.header('accept-encoding', 'identity'); // RFC 9110 section 15.5.16
    done(problem);
  });
}

/** Runs for every request, so it allocates only for a refusal. `rawHeaders` has alternating names and values. */
function problemOf(request: IncomingMessage): OAuthError | undefined {
  const { rawHeaders, headers, url = '' } = request;
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new OAuthError('too_many_headers', 'The request has too many headers.');
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  const code = hosts === 0 ? parserErrorCodeByRequest.get(request) : undefined;
  if (code !== undefined) return unreadableProblem(code);
  if (hosts === 0 && request.httpVersion === '1.1')
    return new OAuthError('unreadable_http', 'The request has no Host header.');
  // RFC 9112 section 3.2: 400 for several, since a proxy may have routed by either.
  if (hosts > 1) return new OAuthError('two_hosts', 'The request has more than one Host header.');
  // The router ignores a target's first character: a proxy doesn't treat `*metrics` as a path (RFC 9112 section 3.2).
  const isTarget = url.startsWith('/') || /^https?:\/\//i.test(url);
  if (!isTarget) return new OAuthError('no_path', 'The request target has no path.');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() === 'identity') return undefined;
  return new OAuthError('unreadable_body', 'Send the body without Content-Encoding.', { statusCode: 415 });
}

function unreadableProblem(code: string): OAuthError {
  const rule = `unreadable HTTP: ${code}`;
  const ruleId = code === 'HPE_HEADER_OVERFLOW' ? 'too_long' : 'unreadable_http';
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const message = isLate
    ? 'The request took too long to arrive.'
    : 'The request is not valid HTTP, or too long.';
  return new OAuthError(ruleId, message, { rule, statusCode: isLate ? 408 : 400 });
}

/** Calls `refuse` after earlier responses, or closes if the malformed input belongs to an answered request. */
export function afterEarlierResponses(
  app: FastifyInstance,
  socket: Socket,
  refuse: (unfinished?: IncomingMessage) => void,
): void {
  if (broken.has(socket)) return;
  broken.add(socket);
  const response = app.connections.get(socket)?.responses.at(-1);
  if (response?.req.complete) whenFinished(response, () => refuse());
  else if (response?.headersSent) whenFinished(response, () => socket.destroySoon());
  else if (response?.socket === null) response.once('socket', () => refuse(response.req));
  else refuse(response?.req);
}

function whenFinished(response: ServerResponse, act: () => void): void {
  if (response.writableFinished) act();
  else response.once('finish', act);
}
