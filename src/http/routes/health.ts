import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { DatabaseWatch } from '../../flows/databaseWatch.ts';
import { RETRY_AFTER_SECONDS } from '../server/errors.ts';
import { sendJson } from '../server/json.ts';

/** Watches the database while requests may come. */
export function watchDatabase(app: FastifyInstance, context: Context): DatabaseWatch {
  const watch = new DatabaseWatch(context, app.log);
  const { standbys } = context;
  app.addHook('onListen', async () => {
    void watch.check();
    standbys?.start();
  });
  app.addHook('preClose', async () => {
    watch.stop();
    standbys?.stop();
  });
  return watch;
}

/** For an orchestrator: `live` says that the process answers, `ready` that it can do its work. */
export function healthRoutes(app: FastifyInstance, watch: DatabaseWatch): void {
  const config = { isHealthCheck: true };
  app.get('/health/live', { config }, async (_request, reply) => sendJson(reply, 200, { status: 'ok' }));

  app.get('/health/ready', { config }, async (_request, reply) => {
    const isEnding = app.ending.isAnnounced;
    if (!isEnding && (await watch.isReady())) return sendJson(reply, 200, { status: 'ok' });
    // The watch has logged the reason, `serve` that it ends.
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return sendJson(reply, 503, { status: isEnding ? 'stopping' : 'unavailable' });
  });
}
