// How commands speak. To people: results on standard output, messages on standard error. To programs that say --json:
// one document on standard output, with `warnings` where there are any, or `{"error": …}` on standard error, and nothing else.

/** A call that can't be understood: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something the operator named that is not there: exit code 1. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** The thing that a command named. @throws {NotFoundError} when it was not found */
export function found<Thing extends NonNullable<unknown>>(
  thing: Thing | null,
  kind: string,
  name: string,
): Thing {
  if (thing === null) throw new NotFoundError(`there is no ${kind} ${name}`);
  return thing;
}

/** Whether `--json` was given: known before commander has read the command line, whose errors are JSON then, too. */
export const inJson = process.argv.includes('--json');

const warnings: string[] = [];

/** Warns of something that was done all the same: people at once, programs in the document that follows. */
export function warn(sentence: string): void {
  if (inJson) warnings.push(sentence);
  else console.error(`warning: ${sentence}`);
}

/** A thing to print, by the names that people and programs see, such as `client_id`. */
type Row = Readonly<Record<string, unknown>>;

/** A thing by the names that programs see. */
export function snakeCase(thing: object): Row {
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
  return Object.fromEntries(Object.entries(thing).map(([name, value]) => [snake(name), value]));
}

/** Prints a result: the document, or its text for people. Documents that are lists have no room for warnings. */
export function print(document: Row | readonly unknown[], text: string): void {
  const whole = warnings.length === 0 || Array.isArray(document) ? document : { ...document, warnings };
  console.log(inJson ? JSON.stringify(whole, null, 2) : text);
}

/** Prints one thing: a JSON object, or its fields a line each. */
export function printOne(thing: object): void {
  const row = snakeCase(thing);
  print(row, alignColumns(Object.entries(row).map(([name, value]) => [name, text(value)])));
}

/**
 * Prints a list at the pace of its reader: a JSON array, or a table as wide as its first page. Where a page has other columns,
 * another table begins. @param none is said when the list is empty
 */
export async function printList<Thing>(
  pages: AsyncIterable<readonly Thing[]> | Iterable<readonly Thing[]>,
  rowsOf: (page: readonly Thing[]) => readonly object[],
  none: string,
): Promise<void> {
  let [isEmpty, header, widths]: [boolean, string, number[]] = [true, '', []];
  const format = (rows: readonly Row[]) => {
    // As `JSON.stringify` writes an array.
    const json = () => rows.map((row) => `\n${JSON.stringify(row, null, 2)}`.replaceAll('\n', '\n  ')).join();
    if (inJson) return (isEmpty ? '[' : ',') + json();
    const lines = rows.map((row) => Object.values(row).map(text));
    const columns = Object.keys(rows[0] ?? {});
    if (String(columns) !== header) {
      lines.unshift(columns);
      [header, widths] = [String(columns), widthsOf(lines)];
    }
    return `${alignColumns(lines, widths)}\n`;
  };
  for await (const page of pages) {
    const rows = rowsOf(page).map(snakeCase);
    if (rows.length > 0 && !(await write(format(rows)))) return;
    isEmpty &&= rows.length === 0;
  }
  if (isEmpty) say(none);
  if (inJson) await write(isEmpty ? '[]\n' : '\n]\n');
}

/** Waits until standard output has taken it. @returns false when nobody reads it any more */
function write(text: string): Promise<boolean> {
  return new Promise((resolve) => process.stdout.write(text, (error) => resolve(!error)));
}

/** Says what was done: the document, or a sentence. */
export function report(done: object, sentence: string): void {
  if (inJson) print(snakeCase(done), '');
  else say(sentence);
}

/** A message for people. */
export function say(sentence: string): void {
  if (!inJson) console.error(sentence);
}

/** Reports an error. */
export function complain(sentence: string): void {
  console.error(inJson ? JSON.stringify({ error: sentence }) : sentence);
}

/** Shows progress to people at a terminal; the next line overwrites it. */
export function showProgress(count: number): void {
  if (!inJson && process.stderr.isTTY) process.stderr.write(`${count} revoked\r`);
}

function widthsOf(lines: readonly (readonly string[])[]): number[] {
  const widest = (column: number) =>
    lines.reduce((most, line) => Math.max(most, line[column]?.length ?? 0), 0);
  return (lines[0] ?? []).map((_, column) => widest(column));
}

function alignColumns(lines: readonly (readonly string[])[], widths = widthsOf(lines)): string {
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function text(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : String(value);
}
