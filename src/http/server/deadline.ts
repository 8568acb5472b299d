import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnansweredError } from '../../flows/errors.ts';
import { ANSWER_MS, DECISION_MS } from '../../rules/lifetimes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When it was read, in milliseconds of `performance.now()`. */
    readAt: number;
  }
}

/** Until when a request may be decided. */
export function decideBy(request: FastifyRequest): number {
  return request.readAt + DECISION_MS;
}

/**
 * Answers a request that takes too long with 503, whatever it waits for. The time of reading it is not counted: phones
 * can be slow to send.
 */
export function limitAnswerTime(app: FastifyInstance): void {
  app.decorateRequest('readAt', 0);
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function inTime(request, reply) {
      request.readAt = performance.now();
      const answered = handler.call(this, request, reply);
      if (!(answered instanceof Promise)) return answered;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          if (reply.sent) return;
          sendOnce(reply);
          reject(new UnansweredError(ANSWER_MS));
        }, ANSWER_MS);
        answered.then(resolve, reject).finally(() => clearTimeout(timer));
      });
    };
  });
}

/** Drops what comes after the first answer: Fastify would log each, with the address as it was sent. */
function sendOnce(reply: FastifyReply): void {
  const { send } = reply;
  reply.send = (payload) => {
    if (!(payload instanceof Error)) reply.send = () => reply;
    return send.call(reply, payload); // an error comes back from the error handler as its answer
  };
}
