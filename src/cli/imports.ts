import { appendFileSync, createReadStream, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Option } from 'commander';
import type { BadLine, Imported } from '../operations/import/imports.ts';
import { UsageError } from '../operations/operation.ts';
import { setV8Flags } from '../process/v8Flags.ts';
import type { Arguments, Options } from './commands.ts';
import type { Shell } from './shell.ts';

/** Files and sentences of `assent client|user|grant import`. */
export const IMPORTING = {
  options: {
    report: () => [
      new Option('--bad <file>', 'write line, field and reason of all that is bad to this file'),
    ],
  },
  read({ bad: file }: Options, shell: Shell, [source]: Arguments) {
    if (file !== undefined && source !== undefined && resolve(file) === resolve(source))
      throw new UsageError('--bad names the file that is imported');
    if (file !== undefined) writeFileSync(file, '', { mode: 0o600 });
    setV8Flags(); // half the memory
    const report = (bad: readonly BadLine[]) => {
      if (bad.length > 0) shell.exitCode = 1;
      if (file !== undefined) appendFileSync(file, bad.map((line) => `${JSON.stringify(line)}\n`).join(''));
    };
    if (source === undefined) return { report, source: { chunks: shell.streams.stdin, bytes: 0 } };
    return { report, source: { chunks: chunksOf(source), bytes: statSync(source).size } };
  },
  says({ dryRun, badLines, bad, ...counts }: Imported): string {
    const others = bad - badLines.length;
    const counted = Object.entries({ ...counts, bad }).map(([name, count]) => `${name}: ${count}`);
    return [
      ...badLines.map(({ line, field, reason }) => `line ${line}${field ? `, ${field}` : ''}: ${reason}`),
      ...(others > 0 ? [`and ${others} more bad lines`] : []),
      `${counted.join(', ')}${dryRun ? ' (a dry run: nothing was kept)' : ''}`,
    ].join('\n');
  },
};

/** Opened when it is read, since a stream's error needs a reader. */
async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file);
}
