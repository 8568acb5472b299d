import type { Server, Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isHttps } from '../rules/common/network.ts';
import type { RuleId } from '../rules/common/refusals.ts';
import type { Connection } from './connectionLimit.ts';
import { prepareDraining } from './draining.ts';
import { answerConnect } from './malformedRequests.ts';
import { preventSmuggling } from './requestSmuggling.ts';
import { endSlowReaders } from './slowReaders.ts';

/** What each listener has before its own hooks: hooks of one phase run in the order of these lines. */
export function prepareListener(app: FastifyInstance, baseUrl: string): void {
  prepareDraining(app);
  endSlowReaders(app);
  addResponseHeaders(app, baseUrl);
  preventSmuggling(app);
  answerConnect(app);
}

/** For every response: the request id; over https HSTS, against a network that redirects browsers to plain http. */
function addResponseHeaders(app: FastifyInstance, baseUrl: string): void {
  const overHttps = isHttps(baseUrl);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Two years, the minimum of browsers' preload lists; for this host only.
    if (overHttps) reply.header('strict-transport-security', 'max-age=63072000');
    done();
  });
}

/** What every listener adds to Fastify's objects, each by a `decorate` of the same name. */
declare module 'fastify' {
  interface FastifyInstance {
    /** The open connections, in the order of their last request, or of their opening. */
    readonly connections: ReadonlyMap<Socket, Connection>;
    readonly shutdown: {
      /** No longer ready: each response ends its connection (connection draining). */
      isDraining: boolean;
      /** The last since then, excluding health checks. */
      lastRequestAt: number;
      readonly listeners: Set<Server>;
    };
  }
  interface FastifyRequest {
    /** Time of `performance.now()` when the whole request was read. */
    readAt: number;
    /** A refusal in the request's log line: the contract's code or our own, and the rule in words and by id. */
    logFields: Readonly<
      { error: string; rule: string; rule_id: RuleId } & Partial<
        Record<'client_id' | 'resource_id' | 'path', string>
      >
    > | null;
    /** Of a decision or an exchange, for its line in the log. */
    logOutcome: { readonly client_id: string; readonly outcome: string } | null;
  }
  interface FastifyReply {
    /** Answered 503 before its handler was done. */
    isLate: boolean;
  }
  interface FastifyContextConfig {
    /** Requested every few seconds by machines, hence logged only at `debug`. */
    readonly isHealthCheck?: boolean;
  }
}

declare module 'node:http' {
  interface ServerResponse {
    /** The reply of the route; undefined before its handler is called. */
    reply?: FastifyReply;
  }
}
