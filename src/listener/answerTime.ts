import type { FastifyInstance, FastifyReply } from 'fastify';
import { OverloadedError } from '../rules/common/error.ts';
import { ANSWER_MS } from '../rules/common/timeouts.ts';

/** The header `Retry-After` of every 503. */
export const RETRY_AFTER_SECONDS = '5';

/** 503 after `ANSWER_MS` since the request was read: Fastify's `handlerTimeout` includes the reading, slow on phones. */
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
  // One timer for all: a timer and its promises for each request took a kilobyte of garbage.
  const timer = setInterval(() => {
    const readBefore = performance.now() - ANSWER_MS;
    for (const { responses } of app.connections.values())
      for (const { reply } of responses) if (reply !== undefined) refuseLate(reply, readBefore);
  }, 100).unref();
  app.addHook('onClose', async () => clearInterval(timer));
}

function refuseLate(reply: FastifyReply, readBefore: number): void {
  if (reply.sent || reply.isLate || reply.request.readAt > readBefore) return;
  reply.isLate = true;
  // Drops responses after the first: Fastify would log each, with the raw URL.
  const { send } = reply;
  reply.send = (payload) => {
    if (!(payload instanceof Error)) reply.send = () => reply;
    return send.call(reply, payload); // an error returns here as the error handler's response
  };
  reply.send(new OverloadedError(`no answer within ${ANSWER_MS} ms`));
}
