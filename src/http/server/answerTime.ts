import type { FastifyInstance, FastifyReply } from 'fastify';
import { UnansweredError } from '../../flows/common/unavailable.ts';
import { ANSWER_MS } from '../../rules/common/timeouts.ts';
import { unfinishedOf } from '../connections/responses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the whole request was read, of `performance.now()`. */
    readAt: number;
  }
  interface FastifyReply {
    /** It was 503 before its handler was done. */
    isLate: boolean;
  }
}

declare module 'node:http' {
  interface ServerResponse {
    /** What a route answers with; undefined before its handler is called. */
    reply?: FastifyReply;
  }
}

const CHECK_MS = 100;

/** 503 after `ANSWER_MS`, counted from the read request: Fastify's `handlerTimeout` counts the reading, slow on phones. */
export function limitAnswerTime(app: FastifyInstance): void {
  app.decorateRequest('readAt', 0);
  app.decorateReply('isLate', false);
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function inTime(request, reply) {
      request.readAt = performance.now();
      reply.raw.reply = reply;
      const answered = handler.call(this, request, reply);
      if (!(answered instanceof Promise)) return answered;
      return answered.catch((error) => {
        if (!reply.isLate) throw error;
        return reply;
      });
    };
  });
  // One timer for all: a timer and its promises for each request were a kilobyte of garbage.
  const timer = setInterval(() => {
    const readBefore = performance.now() - ANSWER_MS;
    for (const socket of app.shutdown.connections)
      for (const { reply } of unfinishedOf(socket)) if (reply !== undefined) refuseLate(reply, readBefore);
  }, CHECK_MS).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

function refuseLate(reply: FastifyReply, readBefore: number): void {
  if (reply.sent || reply.isLate || reply.request.readAt > readBefore) return;
  reply.isLate = true;
  sendOnce(reply);
  reply.send(new UnansweredError(ANSWER_MS));
}

/** Drops responses after the first: Fastify would log each, with the URL as it was sent. */
function sendOnce(reply: FastifyReply): void {
  const { send } = reply;
  reply.send = (payload) => {
    if (!(payload instanceof Error)) reply.send = () => reply;
    return send.call(reply, payload); // an error comes back here as the error handler's response
  };
}
