import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TEXTS } from '../../languages/languages.ts';
import { languageOf } from '../browser/language.ts';
import { errorPage, wordsOf } from '../pages/deadEnds.ts';
import { pageHeaders, renderPage, showPage } from '../pages/views.ts';
import { addressOf } from '../request/caller.ts';
import { loggedPathOf } from '../request/parameters.ts';
import { noteRefusal } from '../request/requestLog.ts';
import { BOUNDS } from './bounds.ts';
import { afterEarlierResponses } from './requestSmuggling.ts';
import { limitPipelining } from './slowReaders.ts';

/** Answers an undecodable path. Fastify calls no hook for it, so this writes the log line. */
export function answerBadPath(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!limitPipelining(request, reply)) return;
  const rule = 'The URL can’t be parsed.';
  request.logFields = { error: 'not_found', rule, rule_id: 'unreadable_address' };
  const { id: reference, method, logFields } = request;
  request.log.info({ method, path: loggedPathOf(request), status: 404, ...logFields }, 'request');
  noteRefusal(request, 404);
  showPage(reply.header('x-request-id', reference), errorPage(request, { cause: 'notFound' }), 404);
}

/** With the last bytes, a `Buffer` despite Fastify's types. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: unknown };

/** Answers malformed or oversized HTTP. Node fails before there is a request, so the page goes directly to the socket. */
export function answerClientError(this: FastifyInstance, error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  afterEarlierResponses(this, socket, () => refuseUnreadable(this, error, socket));
}

/** Answers `CONNECT`, a method for proxies: Node would close the connection silently. */
export function answerConnect(app: FastifyInstance): void {
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    const error = Object.assign(new Error('this server is not a proxy'), { code: 'CONNECT' });
    answerClientError.call(app, error, socket as Socket);
  });
}

function refuseUnreadable(app: FastifyInstance, error: ClientError, socket: Socket): void {
  if (!socket.writable) return; // an earlier response closed the connection
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = isLate ? 408 : 400;
  const reference = BOUNDS.genReqId();
  const code = 'invalid_request';
  const rule = `unreadable HTTP: ${error.code}`;
  const ruleId = error.code === 'HPE_HEADER_OVERFLOW' ? 'too_long' : 'unreadable_http';
  app.log.info({ ref: reference, status, rule, rule_id: ruleId }, 'request');
  const refusal = { reference, method: '-', path: '-', status, error: code, rule, ruleId, clientId: null };
  app.refusals.note(refusal, addressOf({ ip: socket.remoteAddress }));
  const received = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : ''; // none after a timeout
  const header = (name: string) => new RegExp(`^${name}:[ \\t]*([^\\r\\n]*)`, 'im').exec(received)?.[1];
  const sent = { 'accept-language': header('accept-language'), cookie: header('cookie') };
  const language = languageOf({ headers: sent });
  const cause = isLate ? 'late' : 'brokenHttp';
  const words = wordsOf({ cause, code }, TEXTS[language], { pressed: '', again: '' });
  const page = { name: 'error', ...words, reference, explained: null } as const;
  // No address to return to.
  const body = renderPage(page, language, app.branding, '');
  const headers = {
    ...pageHeaders(page, language, app.branding),
    'x-request-id': reference,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { STATUS_CODES } = process.getBuiltinModule('node:http'); // an import loads undici, on Node 26
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}
