import { appendFileSync, createReadStream, openSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { BadLine, Imported } from '../operations/import/imports.ts';
import { UsageError } from '../operations/operation.ts';
import { setV8Flags } from '../process/v8Flags.ts';
import type { Arguments, Options } from './commands.ts';
import type { Shell } from './shell.ts';

/** Files and sentences of `assent client|user|grant import`. */
export const IMPORTING = {
  read({ bad: file }: Options, shell: Shell, [source]: Arguments) {
    if (file !== undefined && source !== undefined && resolve(file) === resolve(source))
      throw new UsageError('--bad names the file that is imported');
    if (file !== undefined) writeFileSync(file, '', { mode: 0o600 });
    setV8Flags(); // half the memory
    setFlagsFromString('--semi-space-growth-factor=1'); // or V8's young generation grows with each batch that survives
    const bad = (lines: readonly BadLine[]) => {
      if (lines.length > 0) shell.exitCode = 1;
      if (file !== undefined) appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    };
    if (source === undefined) return { bad, source: { chunks: shell.streams.stdin } };
    const { size } = statSync(source);
    const chunks = createReadStream(source, { fd: openSync(source, 'r') });
    return { bad, source: { chunks, ...(size > 0 && { share: () => chunks.bytesRead / size }) } };
  },
  says({ dryRun, badLines, bad, ...counts }: Imported): string {
    const wrong = (field: string | null) => (field === null ? '' : `, ${field}`);
    const said = badLines.map(({ line, field, reason }) => `line ${line}${wrong(field)}: ${reason}`);
    if (bad > said.length) said.push(`and ${bad - said.length} more bad lines`);
    const counted = Object.entries({ ...counts, bad }).map(([name, count]) => `${name}: ${count}`);
    return [...said, `${counted.join(', ')}${dryRun ? ' (a dry run: nothing was kept)' : ''}`].join('\n');
  },
};
