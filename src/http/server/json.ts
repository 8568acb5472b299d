import type { FastifyReply } from 'fastify';

/**
 * Answers with a JSON document and exactly the headers of contract 4.2. Setting a serializer keeps Fastify from adding a
 * charset to `application/json`.
 */
export function sendJson(reply: FastifyReply, status: number, document: object): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .serializer(JSON.stringify)
    .send(document);
}
