import type { FastifyInstance } from 'fastify';
import { isHttps } from '../rules/common/network.ts';
import type {} from './decorations.ts'; // else the tests' compiler does not read it
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
