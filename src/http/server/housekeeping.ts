import type { FastifyInstance } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { Housekeeping } from '../../flows/housekeeping.ts';

/** Tidies the database while requests may come. */
export function keepHouse(app: FastifyInstance, context: Context): void {
  const housekeeping = new Housekeeping(context, app.log);
  app.addHook('onListen', async () => housekeeping.start());
  app.addHook('preClose', async () => housekeeping.stop());
}
