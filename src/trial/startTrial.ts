import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Sentences as DemoSentences } from '../../demo/texts/en.d.ts';
import type { Config } from '../config/config.ts';
import { filesIn } from '../config/ownWords.ts';
import { nestedTexts, parseTexts } from '../languages/texts.ts';
import { randomHex } from '../secrets/random.ts';
import { type Demo, prepareDemo, prepareRegistering } from './demoData.ts';
import { readOrMake } from './postgres/readOrMake.ts';

/** The used part of `buildDemo` in `demo/src/app.ts`: `src` is compiled without the demo. */
export type BuildDemo = (
  settings: Demo &
    Pick<Config, 'timeZone' | 'currency'> & {
      readonly url: string;
      readonly register: Register;
      readonly languages: ReturnType<typeof readDemoTexts>;
    },
) => Promise<FastifyInstance>;

type Register = Awaited<ReturnType<typeof prepareRegistering>>;
type RunningDemo = Demo & { readonly app: FastifyInstance; readonly url: string };

const DEMO = new URL('../../demo/dist/app.js', import.meta.url);
const DEMO_TEXTS = new URL('../../demo/texts', import.meta.url);
const SECRET_BYTES = 32;

/** Trial mode's signing secret: made once, kept in `DATA_DIR/secrets`. */
export function trialSecrets(dataDir: string): readonly [string] {
  const file = join(dataDir, 'secrets');
  const secret = readOrMake(file, () => randomHex(SECRET_BYTES));
  if (secret.length < SECRET_BYTES) throw new Error(`${file} is damaged: delete it to create a new one`);
  return [secret];
}

/** Prints the URLs to open. @returns the demo application, to be closed with the server; null if disabled */
export async function startTrial(config: Config, pool: pg.Pool, log: Logger) {
  const demo = config.demo ? await startDemo(config, pool, log) : null;
  // The log's lines appear at the end of this turn of the event loop; the greeting follows them.
  setImmediate(() => console.log(greeting(config, demo)));
  return demo?.app ?? null;
}

/** Starts the demo application on the next port. Assent serves even if that port is taken. */
async function startDemo(config: Config, pool: pg.Pool, log: Logger): Promise<RunningDemo | null> {
  const { baseUrl, port, dataDir, timeZone, currency } = config;
  const address = { host: '127.0.0.1', port: port + 1 };
  const url = `http://${address.host}:${address.port}`;
  const hasPasswords = config.provider === null;
  const demo = await prepareDemo(pool, dataDir, baseUrl, `${url}/callback`, hasPasswords);
  if (demo === null) return null;
  // Loaded only here: production has none of its code.
  const { buildDemo } = (await import(DEMO.href)) as { buildDemo: BuildDemo };
  const register = await prepareRegistering(pool, join(dataDir, 'registered.json'));
  const app = await buildDemo({ ...demo, url, timeZone, currency, register, languages: readDemoTexts() });
  try {
    await app.listen(address);
  } catch (error) {
    log.warn(`the demo application can't listen on ${url}: ${(error as Error).message}`);
    return null;
  }
  return { ...demo, app, url };
}

/** The demo's own texts, by tag. */
export function readDemoTexts() {
  const files = filesIn(fileURLToPath(DEMO_TEXTS));
  const english = parseTexts(files.get('en') ?? '', 'en');
  const texts = [...files].map(([tag, json]) => {
    const file = tag === 'en' ? english : parseTexts(json, tag, { english });
    return [tag, nestedTexts<DemoSentences>(file)] as const;
  });
  return new Map(texts);
}

function greeting({ baseUrl, dataDir }: Config, demo: RunningDemo | null): string {
  const lines = [`Assent is ready at ${baseUrl} (trial mode)`, `  Data              ${dataDir}`];
  if (demo !== null) {
    const [user, ...others] = demo.users;
    lines.push(`  Open              ${demo.url}`);
    if (user !== undefined)
      lines.push(
        `  Login             ${user.login}`,
        `  Password          ${user.password}`,
        `  Payment password  ${user.paymentPassword ?? 'none'}`,
        ...others.map((other) => `  Another user      ${other.login}, password ${other.password}`),
      );
  }
  return `\n${lines.join('\n')}\n`;
}
