import type { FastifyInstance } from 'fastify';
import type {} from './decorations.ts'; // else the tests' compiler does not read it
import { prepareDraining } from './draining.ts';
import { answerConnect } from './malformedRequests.ts';
import { preventSmuggling } from './requestSmuggling.ts';
import { addResponseHeaders } from './responseHeaders.ts';
import { endSlowReaders } from './slowReaders.ts';

/** What each listener has before its own hooks: hooks of one phase run in the order of these lines. */
export function prepareListener(app: FastifyInstance, baseUrl: string): void {
  prepareDraining(app);
  endSlowReaders(app);
  addResponseHeaders(app, baseUrl);
  preventSmuggling(app);
  answerConnect(app);
}
