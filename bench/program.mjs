import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 5;
const READY_DEADLINE_MS = 30_000;

/**
 * A Node program that listens on a port, as a process of its own. What it prints goes to a file.
 *
 * @typedef {{ pid: number, port: number, readySeconds: number, stop(): Promise<void> }} Program
 */

/**
 * Starts a program and waits for its first good answer.
 *
 * @param {string[]} args of node
 * @param {Record<string, string>} variables the whole environment, but for PATH, HOME and PORT
 * @param {string} logFile
 * @returns {Promise<Program>}
 */
export async function startProgram(args, variables, logFile) {
  const port = await freePort();
  const { PATH = '', HOME = '/' } = process.env;
  const output = openSync(logFile, 'a');
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH, HOME, NODE_ENV: 'production', PORT: String(port), ...variables },
    stdio: ['ignore', output, output],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const dies = ended.then(() =>
    Promise.reject(new Error(`a server ended before it was ready: see ${logFile}`)),
  );
  dies.catch(() => {}); // later on it ends because it is stopped
  await Promise.race([untilReady(port), dies]);
  return { pid: child.pid ?? NaN, port, readySeconds: (performance.now() - started) / 1000, stop };
}

/** @param {number} port */
async function untilReady(port) {
  const deadline = performance.now() + READY_DEADLINE_MS;
  while (performance.now() < deadline) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(POLL_MS);
  }
  throw new Error(`nothing answers on port ${port}`);
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, 'close');
  return port;
}
