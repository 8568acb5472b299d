import type { FastifyInstance, FastifyReply } from 'fastify';
import { UnansweredError } from '../../flows/common/unavailable.ts';
import { ANSWER_MS } from '../../rules/common/timeouts.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the whole request was read, of `performance.now()`. */
    readAt: number;
  }
}

/** 503 after `ANSWER_MS`, counted from the read request: Fastify's `handlerTimeout` counts the reading, slow on phones. */
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

/** Drops responses after the first: Fastify would log each, with the URL as it was sent. */
function sendOnce(reply: FastifyReply): void {
  const { send } = reply;
  reply.send = (payload) => {
    if (!(payload instanceof Error)) reply.send = () => reply;
    return send.call(reply, payload); // an error comes back here as the error handler's response
  };
}
