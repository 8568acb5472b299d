import { Console } from 'node:console';
import type { Readable, Writable } from 'node:stream';
import type { RowPages } from '../operations/operation.ts';
import { type Row, withSnakeCaseKeys } from '../operations/snakeCase.ts';

// Output of commands. For people: results on standard output, messages on standard error. With --json: one document on
// standard output, with `warnings` if there are any, or `{"error": …}` on standard error, and nothing else.

export const EXIT_USAGE = 2;

/** A command's input, output and environment: those of `process`, or of a test. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
}

/** Options that aren't called as their fields. */
const OPTIONS: Readonly<Record<string, string>> = {
  client_id: 'client',
  user_id: 'user',
  grant_id: 'grant',
  resource_id: 'resource',
  reference: 'ref',
  new_login: 'login',
  oauth21: 'oauth-2.1',
};

/** The option of a field: `allow_weak` is --allow-weak. */
export const optionNamed = (field: string) => `--${OPTIONS[field] ?? field.replaceAll('_', '-')}`;

/** The operations' sentences name fields in backticks, which are options here. */
export const withOptionNames = (sentence: string) =>
  sentence.replaceAll(/`(\w+)`/g, (_, field: string) => optionNamed(field));

export class Shell {
  /** True with `--json`: known before Commander parses the command line, whose errors are then JSON, too. */
  readonly inJson: boolean;
  readonly streams: Streams;
  exitCode = 0;
  /** For messages about the database; results go to standard output. */
  readonly log = { info: (line: string) => this.say(line), warn: (line: string) => this.say(line) };
  readonly #console: Console;
  readonly #warnings: string[] = [];

  constructor(argv: readonly string[], streams: Streams) {
    this.streams = streams;
    this.inJson = argv.includes('--json');
    this.#console = new Console(streams.stdout, streams.stderr);
  }

  /** Warns about a completed action: people at once, programs in the next document. */
  warn(sentence: string): void {
    if (this.inJson) this.#warnings.push(sentence);
    else this.#console.error(`warning: ${sentence}`);
  }

  /** Prints a result: the document, or its text for people. Documents that are lists carry no warnings. */
  print(document: Row | readonly unknown[], text: string): void {
    const warnings = this.#warnings;
    const whole = Array.isArray(document) || !warnings[0] ? document : { ...document, warnings };
    this.#console.log(this.inJson ? JSON.stringify(whole, null, 2) : text);
  }

  /** Prints one thing: a JSON object, or for people the sentence or else one field a line. */
  printOne(thing: object, sentence?: string): void {
    const row = withSnakeCaseKeys(thing);
    if (sentence !== undefined && !this.inJson) this.say(sentence);
    else this.print(row, fieldLines(row));
  }

  /** Prints a list at its reader's pace: a JSON array, or for people a `line`, or else a block of lines, for each thing. */
  async printList(
    pages: RowPages<unknown>,
    shown: (thing: unknown) => object,
    none: string,
    line = (row: Row) => `${fieldLines(row)}\n`,
  ): Promise<void> {
    let isEmpty = true;
    const format = (rows: readonly Row[]) => {
      if (!this.inJson) return rows.map((row) => `${line(row)}\n`).join('');
      // The format of `JSON.stringify` for arrays.
      const json = rows.map((row) => `\n${JSON.stringify(row, null, 2)}`.replaceAll('\n', '\n  '));
      return (isEmpty ? '[' : ',') + json;
    };
    for await (const page of pages) {
      const rows = page.map((thing) => withSnakeCaseKeys(shown(thing)));
      if (rows.length > 0 && !(await this.#write(format(rows)))) return;
      isEmpty &&= rows.length === 0;
    }
    if (isEmpty) this.say(none);
    if (this.inJson) await this.#write(isEmpty ? '[]\n' : '\n]\n');
  }

  /** Waits for standard output. @returns false if its reader is gone */
  #write(text: string): Promise<boolean> {
    return new Promise((resolve) => this.streams.stdout.write(text, (error) => resolve(!error)));
  }

  say(sentence: string): void {
    if (!this.inJson) this.#console.error(sentence);
  }

  complain(sentence: string): void {
    this.#console.error(this.inJson ? JSON.stringify({ error: sentence }) : sentence);
  }

  /** Shows progress at a terminal; the next line overwrites it. */
  showProgress(count: number, what: string): void {
    if (!this.inJson && this.streams.stderr.isTTY) this.streams.stderr.write(`${count} ${what}\r`);
  }
}

/** One line a field or list element, broken if too long for a terminal, unless it is a command to paste. */
export function fieldLines(row: Row): string {
  const width = Math.max(...Object.keys(row).map(({ length }) => length));
  const lines = Object.entries(row).flatMap(([name, value]) => {
    const whole = [value].flat().map((one) => broken(text(one)));
    const parts = whole.join('\n').split('\n');
    return parts.map((line, at) => `${(at === 0 ? name : '').padEnd(width)}  ${line}`.trimEnd());
  });
  return lines.join('\n');
}

const broken = (line: string) =>
  line.length <= 60 || line.startsWith('assent ') ? line : line.replaceAll(/(?=.{61})(.{1,60}) /g, '$1\n  ');

function text(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  // With spaces, at which its line can be broken.
  return typeof value === 'object' ? JSON.stringify(value).replaceAll(',"', ', "') : String(value);
}
