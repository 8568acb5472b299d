import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { randomHex } from '../secrets/random.ts';
import { type Demo, prepareDemo } from './demoData.ts';
import { readOrMake } from './readOrMake.ts';

type RunningDemo = Demo & { readonly app: FastifyInstance; readonly url: string };

const SECRET_BYTES = 32;
const CALLBACK = '/callback';

/** The secret that trial mode signs with: made once, kept in `DATA_DIR/secrets`. */
export function trialSecrets(dataDir: string): readonly [string] {
  const file = join(dataDir, 'secrets');
  const secret = readOrMake(file, () => randomHex(SECRET_BYTES));
  if (secret.length < SECRET_BYTES) throw new Error(`${file} is damaged: delete it, and another is made`);
  return [secret];
}

/**
 * Starts the demo application, if there is to be one, and prints what to open.
 *
 * @returns the demo application, to be closed with the server; null without one
 */
export async function welcome(config: Config, pool: pg.Pool, log: Logger): Promise<FastifyInstance | null> {
  const demo = config.demo ? await startDemo(config, pool, log) : null;
  // The log's lines are written at the end of this turn of the event loop; the greeting comes after them.
  setImmediate(() => console.log(greeting(config, demo)));
  return demo?.app ?? null;
}

/** Starts the demo application on the next port. That it can't listen there is no reason not to serve. */
async function startDemo(config: Config, pool: pg.Pool, log: Logger): Promise<RunningDemo | null> {
  const { port, dataDir } = config;
  const address = { host: '127.0.0.1', port: port + 1 };
  const url = `http://${address.host}:${address.port}`;
  const demo = await prepareDemo(pool, dataDir, `${url}${CALLBACK}`);
  if (demo === null) return null;
  const app = await openDemo(demo, config, url);
  try {
    await app.listen(address);
  } catch (error) {
    log.warn(`the demo application can't listen on ${url}: ${(error as Error).message}`);
    return null;
  }
  return { ...demo, app, url };
}

/** Only here is the demo application loaded: production has none of its code. */
async function openDemo(
  demo: Demo,
  { baseUrl: server, timeZone }: Config,
  url: string,
): Promise<FastifyInstance> {
  const { buildDemo } = await import('./demo/app.ts');
  const { users, clientId, clientSecret } = demo;
  const application = { server, clientId, clientSecret, redirectUri: `${url}${CALLBACK}` };
  return buildDemo({ url, application, resource: { server, ...demo.resource }, users, timeZone });
}

function greeting({ baseUrl, dataDir }: Config, demo: RunningDemo | null): string {
  const lines = [`Assent is ready at ${baseUrl} (trial mode, data in ${dataDir})`];
  if (demo !== null) {
    const [{ login, password, paymentPassword }, ...others] = demo.users;
    lines.push(
      `  Open              ${demo.url}`,
      `  Login             ${login}`,
      `  Password          ${password}`,
      `  Payment password  ${paymentPassword ?? 'none'}`,
      ...others.map((other) => `  Another user      ${other.login}, password ${other.password}`),
    );
  }
  return `\n${lines.join('\n')}\n`;
}
