import { accessSync, appendFileSync, constants, createReadStream, lstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Imported, NotedLine } from '../operations/import/imports.ts';
import { setV8Flags } from '../process/v8Flags.ts';
import { Refusal } from '../rules/common/error.ts';
import type { Arguments, Options } from './commands.ts';
import { inOptions, type Shell } from './shell.ts';

/** Files and sentences of `assent client|user|grant import`. */
export const IMPORTING = {
  read({ bad: file }: Options, shell: Shell, [source]: Arguments) {
    const fd = source === undefined ? 0 : openSync(source, 'r');
    // Checked before the first line: a report that can't be opened would end the import after its first batch.
    if (file !== undefined) accessSync(dirname(file), constants.W_OK);
    if (file !== undefined && lstatSync(file, { throwIfNoEntry: false }))
      throw new Refusal('usage', `${file} already exists: pass --bad a new file name`);
    setV8Flags(); // half the memory
    setFlagsFromString('--semi-space-growth-factor=1'); // or V8's young generation grows with each batch that survives
    let report: number | undefined;
    const bad = (lines: readonly NotedLine[]) => {
      if (lines.some(({ forced }) => !forced)) shell.exitCode = 1;
      if (file === undefined) return;
      report ??= openSync(file, 'wx', 0o600);
      appendFileSync(report, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    };
    return { bad, chunks: source === undefined ? shell.streams.stdin : createReadStream(source, { fd }) };
  },
  says({ dryRun, badLines, bad, forcedLines = [], ...counts }: Imported): string {
    const { forced = 0 } = counts;
    const counted = Object.entries({ ...counts, bad }).map(([name, count]) => `${name}: ${count}`);
    const lines = [...sentences(forcedLines, forced, 'forced'), ...sentences(badLines, bad, 'bad')];
    return [...lines, `${counted.join(', ')}${dryRun ? ' (dry run: nothing was written)' : ''}`].join('\n');
  },
};

function sentences(lines: Imported['badLines'], count: number, what: 'bad' | 'forced'): string[] {
  const name = (field: string | null) => (field === null ? '' : `, ${field}`);
  const ending = what === 'forced' ? ' (forced)' : '';
  const said = lines.map(
    ({ line, field, reason }) => `line ${line}${name(field)}: ${inOptions(reason)}${ending}`,
  );
  return count > said.length ? [...said, `and ${count - said.length} more ${what} lines`] : said;
}
