import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { CHECKOUT } from './folder.ts';
import { outputOf, versionOf } from './program.ts';

/** `assent …` as it is run without npm. */
export const ASSENT = [process.execPath, 'bin/assent.js'];

/** A terminal of its own for a command; util-linux's `script` has these options, others have not. */
export const terminal = (command: string) => ['script', '-qec', command, '/dev/null'];
export const hasTerminals = versionOf(terminal('echo yes')) !== undefined;

/** A command with all that it starts, in a process group of its own. */
export class Launch {
  /** How it ended: with a code, or by a signal that it did not handle. */
  readonly end: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly output: () => string;
  readonly #child: ChildProcess;

  constructor([program = '', ...args]: readonly string[], variables: Record<string, string>) {
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`, // npm is to run this Node
      HOME: process.env.HOME ?? '/',
      npm_config_update_notifier: 'false',
      ...variables,
    };
    this.#child = spawn(program, args, { cwd: CHECKOUT, env, detached: true });
    this.output = outputOf(this.#child);
    this.end = once(this.#child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('it could not be started');
    return this.#child.pid;
  }

  async says(text: string): Promise<void> {
    await expect.poll(this.output, { interval: 10 }).toContain(text);
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Sends a signal to the command and to what it started, as a terminal does, but for PostgreSQL. */
  killGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** The processes that it has started, and those that these have started, eldest first; itself is not among them. */
  family(): number[] {
    return descendants(this.pid);
  }
}

export function descendants(pid: number): number[] {
  const all = listProcesses();
  const below = (parent: number): number[] =>
    all.filter((each) => each.parent === parent).flatMap((child) => [child.pid, ...below(child.pid)]);
  return below(pid);
}

export function stillRunning(pids: readonly number[]): number[] {
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => pids.includes(pid));
}

export function processesOf(text: string): number[] {
  return listProcesses()
    .filter(({ command }) => command.includes(text))
    .map(({ pid }) => pid);
}

/** The most memory that a process had so far, in KiB; 0 once it has ended. Only Linux tells. */
export function peakMemory(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** All that run; what has ended and only waits for its parent to notice does not. */
function listProcesses(): ReturnType<typeof listByPs> {
  if (!existsSync('/proc/self/stat')) return listByPs();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, state, parent] = /\) (\w) (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}

function listByPs() {
  const text = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' });
  return [...text.matchAll(/^ *(\d+) +(\d+) +([^\sZ]\S*) +(.*)$/gm)].map(([, pid, parent, , command]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command: command ?? '',
  }));
}
