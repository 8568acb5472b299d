import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { ledger, refuse } from '../ledger.ts';
import { freePort, TEST_SECRET } from '../server.ts';
import { noteShown, noteTyped, noteVariables } from '../traffic.ts';
import { outcomeOf, outputOf, type Run } from './program.ts';

const EXECUTABLE = fileURLToPath(new URL('../../../bin/assent.js', import.meta.url));

export type { Run };

type Variables = Record<string, string>;

/**
 * Runs `assent …` with no environment but the path: in this process, unless it serves, joins a trial, or is told about Node.
 * Notes the secrets that it is given and shows. @throws {Error} when it prints one that was known before
 */
export async function runAssent(args: readonly string[], variables: Variables, stdin = ''): Promise<Run> {
  const [password, paymentPassword] = args.includes('--password-stdin') ? stdin.split('\n') : [];
  noteTyped('password', password);
  noteTyped('payment_password', paymentPassword);
  noteVariables(variables);
  const { DATABASE_URL, DATABASE_URL_FILE } = variables;
  const isTrial = DATABASE_URL === undefined && DATABASE_URL_FILE === undefined;
  const isOfNode = Object.keys(variables).some((name) => name.startsWith('NODE_'));
  const run = args.includes('serve') || isTrial || isOfNode ? spawnAssent : callAssent;
  const done = await run(args, { ...surroundings(), ...variables }, stdin);
  const lines = `${done.stdout}\n${done.stderr}`.split('\n');
  refuse(ledger.search(`what assent ${args.join(' ')} printed`, lines));
  noteShown(done.stdout);
  return done;
}

/** Runs it as a process of its own: for signals, pipes, memory, and exit codes as the shell has them. */
export async function spawnAssent(
  args: readonly string[],
  variables: Variables,
  stdin = '',
  executable = EXECUTABLE,
): Promise<Run> {
  return outcomeOf(start(args, variables, executable), stdin);
}

/** In this process. @param ofBuild `main` of another build */
export async function callAssent(
  args: readonly string[],
  env: Variables,
  stdin: string,
  ofBuild = main,
): Promise<Run> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await ofBuild(args, { stdin: Readable.from([stdin]), stdout, stderr, env });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}

export type ServerProcess = Awaited<ReturnType<typeof spawnServer>>;

/** Starts `assent serve` and waits until it is ready, or only lives. @throws {Error} with its output if it ends before, or hangs */
export async function spawnServer(
  variables: Variables,
  until: 'ready' | 'live' = 'ready',
  executable = EXECUTABLE,
) {
  const port = variables.PORT ?? String(await freePort());
  const baseUrl = `http://localhost:${port}`;
  const child = start(['serve'], { PORT: port, BASE_URL: baseUrl, ...variables }, executable);
  const output = outputOf(child);
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const ended = once(child, 'close') as Promise<[number | null]>;
  await Promise.race([
    untilHealthy(`${baseUrl}/health/${until}`),
    ended.then(([code]) => {
      throw new Error(`it ended with code ${code}`);
    }),
  ]).catch((cause: Error) => {
    child.kill();
    throw new Error(`the server was never ${until}: ${cause.message}\n${output()}`, { cause });
  });
  return {
    baseUrl,
    pid: child.pid ?? 0,
    output,
    isRunning,
    /**
     * Sends a signal and waits for the end. @returns the exit code, null when the signal ended it
     * @throws {Error} when its output or its metrics tell a secret that the tests know
     */
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      const metrics = isRunning() ? await metricsOf(baseUrl) : '';
      child.kill(signal);
      const [code] = await ended;
      const printed = output().replaceAll(GREETING, '').split('\n');
      refuse([
        ...ledger.search('the metrics of a server', metrics.split('\n')),
        ...ledger.search('what a server printed', printed),
      ]);
      return code;
    },
  };
}

/** A server for one test. */
export async function ownServer(...how: Parameters<typeof spawnServer>): Promise<ServerProcess> {
  const server = await spawnServer(...how);
  onTestFinished(async () => void (await server.stop()));
  return server;
}

export function onDatabase(url: string): Variables {
  return { DATABASE_URL: url, SECRETS: TEST_SECRET, LOG_LEVEL: 'warn' };
}

/** Starts `assent …` as a process of its own. */
export function start(args: readonly string[], variables: Variables, executable = EXECUTABLE) {
  noteVariables(variables);
  const options = [CHEAP_PASSWORDS, variables.NODE_OPTIONS ?? ''].join(' ');
  const env = { ...surroundings(), ...variables, NODE_OPTIONS: options };
  return spawn(process.execPath, [executable, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** A server of the tests has to read the cheap hashes of their users. */
const CHEAP_PASSWORDS = `--import=${new URL('../cheapPasswords.mjs', import.meta.url)}`;

function surroundings(): Variables {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' };
}

/** The one place where passwords may be read: what trial mode says to type in. */
const GREETING = /^ {2}(Password|Payment password|Another user) .+$/gm;

async function metricsOf(baseUrl: string): Promise<string> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetch(`${baseUrl}/metrics`, { signal }).catch(() => undefined);
  return (await answer?.text()) ?? '';
}

/** Against hanging only: a busy machine can take long. */
const READY = { timeout: 100_000, interval: 25 };

async function untilHealthy(url: string): Promise<void> {
  const ask = () => fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
  await vi.waitUntil(async () => (await ask())?.status === 200, READY);
}
