/** A call that can't be understood: exit code 2. */
export class UsageError extends Error {}

/** Something the operator named that is not there: exit code 1. */
export class NotFoundError extends Error {}

/** Whether the command prints one JSON document instead of text for people. */
export interface OutputOptions {
  readonly json?: boolean;
}

type Row = Readonly<Record<string, unknown>>;

/** Prints one thing: a JSON object, or its fields a line each. */
export function printOne(row: Row, { json = false }: OutputOptions): void {
  console.log(json ? printJson(row) : printFields(row));
}

/** Prints a list: a JSON array, or a table; `none` is said when it is empty. */
export function printList(rows: readonly Row[], none: string, { json = false }: OutputOptions): void {
  if (json) console.log(printJson(rows));
  else if (rows.length === 0) console.error(none);
  else console.log(printTable(rows));
}

function printJson(document: unknown): string {
  return JSON.stringify(document, null, 2);
}

function printFields(row: Row): string {
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  return Object.entries(row)
    .map(([name, value]) => `${name.padEnd(width)}  ${text(value)}`)
    .join('\n');
}

function printTable(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => text(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function text(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return value instanceof Date ? value.toISOString() : String(value);
}
