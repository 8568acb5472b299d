import type { FastifyInstance } from 'fastify';
import { showEmbedded } from './notices.ts';

/**
 * Refuses requests for a frame, an embed or a script by their Fetch Metadata header (clickjacking), before anything is looked
 * up. Browsers that heed the headers of our pages show an error of their own instead of this page; programs send no such
 * header.
 */
export function refuseEmbedding(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const destination = request.headers['sec-fetch-dest'];
    if (destination === undefined || destination === 'document') return done();
    showEmbedded(reply);
  });
}
