import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterEarlierResponses, parserErrorCodeByRequest } from './requestSmuggling.ts';

/** With the last bytes, a `Buffer` despite Fastify's types. */
type ClientError = NodeJS.ErrnoException & { readonly rawPacket?: unknown };

/**
 * Answers malformed or oversized HTTP. Node fails before there is a request: a stand-in, with what was read last, goes the way of
 * all others, to an answer in their format and a log line.
 */
export function answerClientError(this: FastifyInstance, error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  afterEarlierResponses(this, socket, (unfinished) => {
    if (!socket.writable) return; // an earlier response closed the connection
    const received = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString('latin1') : ''; // none after a timeout
    const line = /^(?<method>GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (?<url>[^\s?]+)/.exec(received)?.groups;
    const { method = 'GET', url = '/-' } = unfinished ?? line ?? {}; // known ones: hooks don't run for others
    const forPages = received.matchAll(/^(accept-language|cookie):[ \t]*([^\r\n]*)/gim);
    const headers = Object.fromEntries(
      Array.from(forPages, ([, name = '', value]) => [name.toLowerCase(), value]),
    );
    const { IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http'); // an import loads undici, on Node 26
    const request = Object.assign(new IncomingMessage(socket), { method, url, headers });
    const response = new ServerResponse(request);
    const output = new PassThrough(); // the socket may have the response of an unfinished request
    output.pipe(socket);
    response.assignSocket(output as unknown as Socket);
    response.once('finish', () => output.end());
    parserErrorCodeByRequest.set(request, error.code ?? '');
    this.server.emit('request', request, response);
  });
}

/** Answers `CONNECT`, a method for proxies: Node would close the connection silently. */
export function answerConnect(app: FastifyInstance): void {
  app.server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    const error = Object.assign(new Error('this server is not a proxy'), { code: 'CONNECT' });
    answerClientError.call(app, error, socket as Socket);
  });
}
