import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  spawn,
  spawnSync,
} from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';

/** Against hanging only: on a busy machine everything takes long. */
export const PATIENCE = { timeout: 60_000, interval: 10 };

/** For programs of others: Debian keeps some in folders of root's path only. */
export const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;

/** The version of a program, by the group of a pattern; undefined if it is not installed. */
export function versionOf([program = '', ...args]: readonly string[], pattern = /(.+)/): string | undefined {
  const env = { ...process.env, PATH };
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
  return status === 0 ? pattern.exec(stdout + stderr)?.[1] : undefined;
}

export function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  return () => output;
}

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export async function outcomeOf(child: ChildProcessWithoutNullStreams, stdin = ''): Promise<Run> {
  child.stdin.end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Starts a program of others and waits for its port on 127.0.0.1. @throws {Error} with what it printed when it ends before */
export async function startProgram(
  [program = '', ...args]: readonly string[],
  port: number,
  options: Omit<SpawnOptions, 'stdio'> = {},
) {
  const child = spawn(program, args, { env: { PATH }, ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = outputOf(child);
  const ended = once(child, 'exit');
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  const answers = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  };
  const failed = ended.then(() => {
    throw new Error(`${program} ended:\n${output()}`);
  });
  await Promise.race([vi.waitFor(answers, PATIENCE), failed]).catch((error) => {
    child.kill();
    throw error;
  });
  return { stop };
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening');
  return (server.address() as AddressInfo).port;
}
