import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { OAuthError } from '../../rules/error.ts';

/**
 * Node shows a thousand headers. Before 22.23.2, 24.18.1 and 26.5.1 it leaves out the others without a word, and still
 * cuts the request by them (CVE-2026-58044); since then it refuses the request itself.
 */
const MAX_HEADERS = 999;

/** The newest request of each connection, by its answer. */
const newest = new WeakMap<Socket, ServerResponse>();
/** Connections on which something was not HTTP: what else comes on them is ignored. */
const broken = new WeakSet<Socket>();

/** The answer to the newest request of a connection, sent or not; undefined before the first. */
export function newestAnswerOf(socket: Socket): ServerResponse | undefined {
  return newest.get(socket);
}

/**
 * Keeps what two readers of one connection could understand differently from mattering, where Node is lenient: each
 * request gets one answer, in its turn, and the connection ends where somebody before us may have cut it elsewhere.
 */
export function preventSmuggling(app: FastifyInstance): void {
  app.server.prependListener('request', (request, response) => {
    newest.set(request.socket, response);
    request.method ??= 'QUERY'; // the one method that early versions of Node 20.19 and 22 read without naming it
  });
  app.addHook('onRequest', ({ raw, headers }, reply, done) => {
    // Node drops without a word what stands in one packet behind the wish for another protocol; and HTTP/1.0 knows
    // no chunks (RFC 9112 section 6.1).
    if (headers.upgrade !== undefined || (raw.httpVersion === '1.0' && headers['transfer-encoding'])) {
      reply.header('connection', 'close');
    }
    const problem = problemOf(raw.rawHeaders);
    if (problem === null) done();
    else done(new OAuthError('invalid_request', problem));
  });
}

/** @param raw names and values by turns */
function problemOf(raw: readonly string[]): string | null {
  if (raw.length > 2 * MAX_HEADERS) return 'The request has too many headers.';
  // RFC 9112 section 3.2: 400 for more than one, whichever of them a proxy went by.
  return hasTwoHosts(raw) ? 'The request names two hosts.' : null;
}

/** @param raw names and values by turns, of every request: so it is read without making anything */
function hasTwoHosts(raw: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * Calls `refuse` when it is its turn: after the answers to the requests before what was not HTTP. Does not call it when
 * that was the rest of a request which has its answer already; the connection ends with that one.
 */
export function inOrder(socket: Socket, refuse: () => void): void {
  if (broken.has(socket)) return;
  broken.add(socket);
  const answer = newest.get(socket);
  if (answer?.req.complete) afterwards(answer, refuse);
  else if (answer?.headersSent) afterwards(answer, () => socket.destroySoon());
  else if (answer?.socket === null) answer.once('socket', refuse);
  else refuse();
}

function afterwards(answer: ServerResponse, act: () => void): void {
  if (answer.writableFinished) act();
  else answer.once('finish', act);
}
