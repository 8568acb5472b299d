import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import type { Context } from '../../src/flows/common/context.ts';
import { openProvider, type ProviderSettings } from '../../src/flows/common/provider.ts';
import { buildApp, type Dependencies } from '../../src/http/app.ts';
import { BUILT_IN_CATALOGUE } from '../../src/languages/catalogue.ts';
import { BUILT_IN_LANGUAGES } from '../../src/languages/languages.ts';
import { drain } from '../../src/listener/draining.ts';
import { listenAt, resolveHost } from '../../src/listener/listen.ts';
import type { Caller } from '../../src/rules/common/caller.ts';
import { BUILT_IN_BRAND } from '../../src/rules/face/brand.ts';
import { NO_TARGET_NAMES } from '../../src/rules/face/directory.ts';
import { BUILT_IN_OFFER } from '../../src/rules/request/scopeRules.ts';
import { KeyRing } from '../../src/secrets/keyRing.ts';
import { ledger, newSecret, refuse } from './ledger.ts';
import type { NewClient } from './operators.ts';
import { createDatabase, type TestDatabase } from './postgres/database.ts';
import { listen } from './process/program.ts';
import {
  createClient,
  createResource,
  createUser,
  type NewUser,
  type TestClient,
  type TestUser,
} from './registrations.ts';

export type { TestClient, TestUser };

export type TestServer = Awaited<ReturnType<typeof startServer>>;

type Settings = Omit<
  Context,
  'db' | 'keyRing' | 'catalogue' | 'defaultLimit' | 'provider' | 'confirmsPayments'
>;

/** `baseUrl` is the public address, when it is not the one that the test connects to. */
export interface ServerOptions extends Partial<Settings> {
  readonly secrets?: readonly [string, ...string[]];
  readonly database?: TestDatabase;
  readonly trustProxy?: false | number | string[];
  readonly maxConnections?: number;
  readonly metrics?: Dependencies['metrics'];
  readonly offer?: Partial<Pick<Context, 'catalogue' | 'defaultLimit'>>;
  readonly provider?: ProviderSettings;
  readonly requiresPaymentPassword?: boolean;
  /** Where it listens, when not at `localhost`. */
  readonly addresses?: readonly string[];
}

/** The caller, for a test that calls a verb without HTTP. */
export const CALLER: Caller = {
  address: '127.0.0.1',
  reference: 'test',
  userAgent: null,
  get decideBy() {
    return performance.now() + 4_500;
  },
};

export const TEST_SECRET = newSecret();

/** The whole server on a real port and a real database of its own, inside the process of the test. */
export async function startServer({
  secrets = [TEST_SECRET],
  database: given,
  trustProxy = false,
  maxConnections = 1_000,
  metrics = { onThisPort: true, token: null },
  offer,
  provider,
  requiresPaymentPassword = false,
  addresses,
  ...settings
}: ServerOptions = {}) {
  const database = given ?? (await createDatabase());
  const port = await freePort();
  const address = `http://localhost:${port}`;
  const logLines: string[] = [];
  const log = pino({ level: 'trace' }, collect(logLines));
  for (const secret of secrets) ledger.note('signing secret', secret);
  const context: Context = {
    db: database.pool,
    keyRing: new KeyRing(secrets),
    baseUrl: address,
    brand: BUILT_IN_BRAND,
    languages: BUILT_IN_LANGUAGES(),
    ...BUILT_IN_OFFER,
    catalogue: BUILT_IN_CATALOGUE,
    ...offer,
    directory: NO_TARGET_NAMES,
    timeZone: 'UTC',
    codeLifetimeSeconds: 50,
    maxInstances: 100,
    provider: provider ? openProvider(provider, log) : null,
    confirmsPayments: requiresPaymentPassword || provider?.paymentAcr != null,
    countsPayments: false,
    showsRules: false,
    ...settings,
  };
  const app = await buildApp({ context, log, trustProxy, maxConnections, metrics });
  await listenAt(app, addresses ?? (await resolveHost('localhost')), port, (place) => place);

  return {
    baseUrl: address,
    database,
    context,
    logLines,
    routes: routesOf(app),
    metrics: app.metrics,
    createUser: (user?: NewUser) => createUser(database.pool, user),
    createClient: (given?: Partial<NewClient>) => createClient(database.pool, given),
    createResource: () => createResource(database.pool),
    drain: (forMs: number) => drain(app, forMs),
    /** @throws {Error} when the log, the metrics or the database tell a secret that the tests know */
    async close() {
      const metrics = (await app.metrics.metrics()).split('\n');
      await app.close();
      try {
        refuse([...ledger.search('the metrics', metrics), ...ledger.search('the log', logLines)]);
      } finally {
        if (given === undefined) await database.drop();
      }
    },
  };
}

export async function useServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options);
  afterAll(() => server.close());
  return server;
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, 'localhost');
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Reads the tree that Fastify prints: it has no other list of routes. */
function routesOf(app: FastifyInstance): string[] {
  const parts: string[] = [];
  const routes = app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent, part = '', methods] = /^(.*)[├└]── (\S+)(?: \((.+)\))?$/.exec(line) ?? [];
      if (indent === undefined) return [];
      parts.splice(indent.length / 4, Number.POSITIVE_INFINITY, part); // four characters for each level
      return methods?.split(', ').map((method) => `${method} ${parts.join('')}`) ?? [];
    });
  return routes.toSorted();
}

export const collect = (lines: string[]) => ({ write: (line: string) => void lines.push(line) });
