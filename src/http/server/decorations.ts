import type { Registry } from 'prom-client';
import type { Context } from '../../flows/common/context.ts';
import type { RefusalLog } from '../../watch/refusals.ts';
import type { Branding } from '../pages/look.ts';
import type { RouteTable } from './errors.ts';

/** What the modules of `http/` add to Fastify's objects, each by a `decorate` of the same name. */
declare module 'fastify' {
  interface FastifyInstance {
    readonly context: Context;
    readonly branding: Branding;
    readonly metrics: Registry;
    readonly refusals: RefusalLog;
    readonly routeTable: RouteTable;
  }
  interface FastifyRequest {
    /** The address to go on at, for a page whose own can't be asked for again. */
    wayBack?: string;
  }
  interface FastifyContextConfig {
    /** True if attackers could guess secrets here: failures are limited. */
    readonly limitsFailures?: boolean;
  }
}
