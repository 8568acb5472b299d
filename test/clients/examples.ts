import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { CHECKOUT, readFile, useFolder } from '../support/process/folder.ts';
import { versionOf } from '../support/process/program.ts';

// Runs the blocks of docs/integrate/ and the programs of examples/ as processes of their own.

type Variables = Record<string, string>;

type Guide = 'guide.md' | 'resources.md';
const textOf = (guide: Guide) => readFile(`docs/integrate/${guide}`);

export const exampleFile = (name: string) => join(CHECKOUT, 'examples', name);

export function exampleNames(guide: Guide = 'guide.md'): string[] {
  return [...textOf(guide).matchAll(/^<!-- example: (\S+) -->$/gm)].map(([, name = '']) => name);
}

/** A fenced block of the guide, by the comment in front of it. */
export function block(comment: string, guide: Guide = 'guide.md'): string {
  const found = new RegExp(`^<!-- ${comment} -->\n\`\`\`\\w+\n(.*?)^\`\`\`$`, 'ms').exec(textOf(guide))?.[1];
  if (found === undefined) throw new Error(`docs/integrate/${guide} has no block ${comment}`);
  return found;
}

/** A folder to save examples in, with the packages that `npm install` would bring. */
export function useExampleFolder(): string {
  const folder = useFolder();
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return folder;
}

/** Registers the tests of examples that need `commands`; on a machine that lacks some, a test that says so. */
export function describeWith(commands: string[], title: string, tests: () => void): void {
  const argumentOf = (command: string) => (/^(openssl|go)$/.test(command) ? 'version' : '--version');
  const absent = commands.filter((command) => versionOf([command, argumentOf(command)]) === undefined);
  if (absent.length === 0) describe(title, tests);
  else it(`${title} can’t run here without ${absent.join(' and ')}`, () => expect(absent).not.toEqual([]));
}

/** PATH and HOME of this process, which interpreters need, and other variables. */
export function environment(variables: Variables): Variables {
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', ...variables };
}

export async function runBlock(name: string, variables: Variables, guide?: Guide) {
  const script = block(`example: ${name}`, guide);
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env: environment(variables) });
  return JSON.parse(stdout) as Record<string, unknown>;
}

function reading(stream: Readable) {
  const output = {
    text: '',
    /** @returns the part, or undefined when the process ended without it */
    async until(pattern: RegExp): Promise<string | undefined> {
      const isOver = () => pattern.test(output.text) || stream.readableEnded;
      await vi.waitUntil(isOver, { timeout: 60_000, interval: 10 });
      return pattern.exec(output.text)?.[0];
    },
  };
  stream.setEncoding('utf8').on('data', (chunk) => {
    output.text += chunk;
  });
  return output;
}

export type RunningExample = ReturnType<typeof startExample>;

export function startExample(command: string, file: string, folder: string, variables: Variables) {
  const child = spawn(command, [file], { cwd: folder, env: environment(variables) });
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    stdout: reading(child.stdout),
    stderr: reading(child.stderr),
    type: (line: string) => child.stdin.write(`${line}\n`),
    /** @returns the exit code, null when a signal ended it */
    ended: async () => (await closed)[0],
    async stop() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
