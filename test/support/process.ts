import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ledger, refuse } from './ledger.ts';
import { freePort, TEST_SECRET } from './server.ts';
import { noteShown, noteTyped, noteVariables } from './traffic.ts';

const EXECUTABLE = fileURLToPath(new URL('../../bin/assent.js', import.meta.url));

type Variables = Record<string, string>;

/** What a command printed, and how it ended. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `assent …` as a process of its own, with nothing of this process's environment but the path. */
export async function runAssent(args: readonly string[], variables: Variables, stdin = ''): Promise<Run> {
  const [password, paymentPassword] = stdin.split('\n');
  noteTyped('password', password);
  noteTyped('payment_password', paymentPassword);
  const child = start(args, variables);
  child.stdin?.end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  // What was known before: a secret that it makes is shown this once.
  refuse(ledger.search(`what assent ${args.join(' ')} printed`, `${stdout}\n${stderr}`.split('\n')));
  noteShown(stdout);
  return { code, stdout, stderr };
}

/** A server as a process of its own. */
export interface ServerProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** Everything it printed so far. */
  output(): string;
  isRunning(): boolean;
  /**
   * Sends a signal and waits for the end.
   *
   * @returns the exit code, null when the signal ended it
   * @throws {Error} when its output or its metrics tell a secret that the tests know
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `assent serve` and waits until it is ready, or only until it lives: it may wait for its database.
 *
 * @throws {Error} with its output when it ends before
 */
export async function spawnServer(
  variables: Variables,
  until: 'ready' | 'live' = 'ready',
  executable = EXECUTABLE,
): Promise<ServerProcess> {
  const port = variables.PORT ?? String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const child = start(['serve'], { PORT: port, BASE_URL: baseUrl, ...variables }, executable);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const ended = once(child, 'close') as Promise<[number | null]>;
  await Promise.race([
    untilHealthy(`${baseUrl}/health/${until}`),
    ended.then(() => {
      throw new Error(`the server ended before it was ${until}:\n${output}`);
    }),
  ]);
  return {
    baseUrl,
    pid: child.pid ?? 0,
    output: () => output,
    isRunning,
    async stop(signal = 'SIGTERM') {
      const metrics = isRunning() ? await metricsOf(baseUrl) : '';
      child.kill(signal);
      const [code] = await ended;
      const printed = output.replaceAll(GREETING, '').split('\n');
      refuse([
        ...ledger.search('the metrics of a server', metrics.split('\n')),
        ...ledger.search('what a server printed', printed),
      ]);
      return code;
    },
  };
}

/** The environment of a server on a database of the tests. */
export function onDatabase(url: string): Variables {
  return { DATABASE_URL: url, SECRETS: TEST_SECRET, LOG_LEVEL: 'warn' };
}

function start(args: readonly string[], variables: Variables, executable = EXECUTABLE): ChildProcess {
  noteVariables(variables);
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...variables };
  return spawn(process.execPath, [executable, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** The one place where passwords may be read: what trial mode says to type in. */
const GREETING = /^ {2}(Password|Payment password|Another user) .+$/gm;

const METRICS_DEADLINE_MS = 2_000;

/** Empty when the server does not answer any more. */
async function metricsOf(baseUrl: string): Promise<string> {
  const signal = AbortSignal.timeout(METRICS_DEADLINE_MS);
  const answer = await fetch(`${baseUrl}/metrics`, { signal }).catch(() => undefined);
  return (await answer?.text()) ?? '';
}

async function readAll(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}

const POLL_MS = 25;
/** Against hanging only: a busy machine can take long. */
const READY_DEADLINE_MS = 60_000;

async function untilHealthy(url: string): Promise<void> {
  const deadline = Date.now() + READY_DEADLINE_MS;
  while (Date.now() < deadline) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${url} did not become 200`);
}
