import {
  accessSync,
  appendFileSync,
  constants,
  createReadStream,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Option } from 'commander';
import { FORCE_VALUES, type Imported, type NotedLine } from '../operations/import/imports.ts';
import { setV8Flags } from '../process/v8Flags.ts';
import { OperatorError } from '../rules/common/error.ts';
import type { Arguments, Options } from './commands.ts';
import { type Shell, withOptionNames } from './shell.ts';

/** Files and sentences of `assent client|user|grant import`. */
export const IMPORT_COMMAND = {
  options: {
    force: (derived: Option) => [
      new Option('--force [kind]', derived.description).choices(FORCE_VALUES).preset('all'),
    ],
  },
  read({ bad: file }: Options, shell: Shell, [source]: Arguments) {
    const fd = source === undefined ? 0 : openSync(source, 'r');
    // Checked before the first line: a report that can't be opened would end the import after its first batch.
    if (file !== undefined) accessSync(dirname(file), constants.W_OK);
    if (file !== undefined && lstatSync(file, { throwIfNoEntry: false }) && !isReport(file))
      throw new OperatorError('usage', `${file} already exists: pass --bad a new file name`);
    setV8Flags(); // half the memory
    setFlagsFromString('--semi-space-growth-factor=1'); // or V8's young generation grows with each batch that survives
    let report: number | undefined;
    const bad = (lines: readonly NotedLine[]) => {
      if (lines.some(({ mark }) => mark === 'bad')) shell.exitCode = 1;
      if (file === undefined) return;
      if (report === undefined) {
        const beside = `${file}.${process.pid}`;
        report = openSync(beside, 'wx', 0o600);
        renameSync(beside, file);
      }
      const inReport = ({ mark, ...line }: NotedLine) => (mark === 'bad' ? line : { ...line, [mark]: true });
      appendFileSync(report, lines.map((line) => `${JSON.stringify(inReport(line))}\n`).join(''));
    };
    return { bad, chunks: source === undefined ? shell.streams.stdin : createReadStream(source, { fd }) };
  },
  says({
    dryRun,
    badLines,
    forcedLines,
    updatedLines,
    newerHereLines,
    blocked = [],
    bad,
    ...counts
  }: Imported) {
    const all: Record<string, number | undefined> = { ...counts, bad };
    const counted = Object.entries(all).map(([name, count]) => `${name}: ${count}`);
    const noted = { updated: updatedLines, newer_here: newerHereLines, forced: forcedLines, bad: badLines };
    const lines = Object.entries(noted).flatMap(([mark, some = []]) => sentences(some, all[mark] ?? 0, mark));
    for (const id of blocked) lines.push(`blocked ${id}`);
    return [...lines, `${counted.join(', ')}${dryRun ? ' (dry run: nothing was written)' : ''}`].join('\n');
  },
};

/** True for a file of an earlier import: a plain one that only its owner may read, and whose lines are a report's. */
function isReport(file: string): boolean {
  const stat = lstatSync(file);
  const isPlain = stat.isFile() && stat.nlink === 1 && (stat.mode & 0o777) === 0o600;
  return isPlain && /^({"line":|$)/.test(readFileSync(file, 'latin1').slice(0, 8));
}

function sentences(lines: Imported['badLines'], count: number, mark: string): string[] {
  const name = (field: string | null) => (field === null ? '' : `, ${field}`);
  const ending = mark === 'bad' ? '' : ` (${mark})`;
  const said = lines.map(
    ({ line, field, reason }) => `line ${line}${name(field)}: ${withOptionNames(reason)}${ending}`,
  );
  return count > said.length ? [...said, `and ${count - said.length} more ${mark} lines`] : said;
}
