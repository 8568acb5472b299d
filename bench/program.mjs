import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Precision of a start in ms, or a hundredth of a longer one, so that polling doesn't slow it down. */
const POLL_MS = 5;
const POLL_SHARE = 0.01;
/** A first start creates tables, which takes long. */
const READY_DEADLINE_MS = 300_000;

/**
 * A program that listens on a port, as a separate process. Its output goes to a file.
 *
 * @typedef {{ pid: number, port: number, readySeconds: number, stop(): Promise<void> }} Program
 */

/**
 * Starts a Node program on a free port and waits for its first good answer.
 *
 * @param {string[]} args of node
 * @param {Record<string, string>} variables the whole environment, except PATH, HOME and PORT
 * @param {string} logFile
 * @param {string} [command] another Node than this one
 * @returns {Promise<Program>}
 */
export async function startProgram(args, variables, logFile, command = process.execPath) {
  const port = await freePort();
  const own = { NODE_ENV: 'production', PORT: String(port), ...variables };
  const url = `http://127.0.0.1:${port}/health/ready`;
  return startCommand({ command, args, variables: own, logFile, port, url });
}

/**
 * Starts any program and waits for its first good answer.
 *
 * @param {object} program
 * @param {string} program.command @param {string[]} program.args
 * @param {Record<string, string>} program.variables the whole environment, except PATH and HOME
 * @param {string} [program.cwd] @param {string} program.logFile
 * @param {number} program.port for the load @param {string} program.url answers 200 once it is ready
 * @param {Record<string, string>} [program.headers] of that request
 * @returns {Promise<Program>}
 */
export async function startCommand({ command, args, variables, cwd, logFile, port, url, headers }) {
  const { PATH = '', HOME = '/' } = process.env;
  const output = openSync(logFile, 'a');
  const started = performance.now();
  const child = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH, HOME, ...variables },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const dies = ended.then(() =>
    Promise.reject(new Error(`a server ended before it was ready: see ${logFile}`)),
  );
  dies.catch(() => {}); // a later end is a stop
  await Promise.race([untilReady(url, headers), dies]).catch(async (error) => {
    await stop();
    throw error;
  });
  return { pid: child.pid ?? NaN, port, readySeconds: (performance.now() - started) / 1000, stop };
}

/** @param {string} url @param {Record<string, string>} [headers] */
async function untilReady(url, headers = {}) {
  const started = performance.now();
  for (let waited = 0; waited < READY_DEADLINE_MS; waited = performance.now() - started) {
    const answer = await fetch(url, { headers }).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(Math.max(POLL_MS, waited * POLL_SHARE));
  }
  throw new Error(`nothing answers ${url}`);
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}
