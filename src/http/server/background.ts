import type { FastifyInstance } from 'fastify';
import { DatabaseWatch } from '../../watch/databaseWatch.ts';
import { Housekeeping } from '../../watch/housekeeping.ts';
import { RefusalLog } from '../../watch/refusals.ts';

/** Runs while the server is open: the database watch, the writing of refusals, and housekeeping. */
export function runInBackground(app: FastifyInstance): DatabaseWatch {
  const { context, log } = app;
  const watch = new DatabaseWatch(context, log);
  const refusals = new RefusalLog(context);
  const housekeeping = new Housekeeping(context, log);
  app.decorate('refusals', refusals);
  app.addHook('onListen', async () => void watch.check());
  app.addHook('onListen', async () => housekeeping.start());
  app.addHook('preClose', async () => watch.stop());
  app.addHook('preClose', () => refusals.write());
  app.addHook('preClose', async () => housekeeping.stop());
  return watch;
}
