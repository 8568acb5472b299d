import type { z } from 'zod';

/** The mistakes in an operator's file, one line each. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const MAX_LINES = 20;
const MAX_PLACE_CHARACTERS = 100;

/** Parses an operator's JSON file. @throws {FileError} each mistake by its path, for example `accent.light must be …` */
export function parseOperatorFile<Schema extends z.ZodType>(schema: Schema, json: string): z.output<Schema> {
  const result = schema.safeParse(parseJson(json));
  if (result.success) return result.data;
  throw new FileError(truncateMistakes([...new Set(result.error.issues.flatMap(linesOf))]));
}

export function truncateMistakes(lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `has ${more} more mistakes`] : lines;
}

/** @throws {FileError} on one line */
export function parseJson(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    const doubled = findDoubledName(json);
    if (doubled !== undefined) throw new FileError([`has ${doubled} twice`]);
    return value;
  } catch (error) {
    if (error instanceof FileError) throw error;
    // The engine's message quotes the file over several lines, and only newer ones name the line.
    const said = (error as Error).message.replaceAll(/\s+/g, ' ');
    const [, position] = /at position (\d+)$/.exec(said) ?? [];
    const line =
      position === undefined ? '' : ` (line ${json.slice(0, Number(position)).split('\n').length})`;
    throw new FileError([`is not JSON: ${said}${line}`]);
  }
}

/** The path of a name that an object has twice, of which `JSON.parse` takes the last (RFC 8259 section 4). @param json valid */
export function findDoubledName(json: string): string | undefined {
  const open: { readonly names: Set<string>; last: string }[] = [];
  for (const [token, string, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') open.push({ names: new Set(), last: '' });
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined && inner !== undefined) {
      inner.last = JSON.parse(string ?? '');
      if (inner.names.has(inner.last)) return placeOf(open.map(({ last }) => last));
      inner.names.add(inner.last);
    }
  }
  return undefined;
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${placeOf([...issue.path, key])} is unknown`);
  const issues = issue.code === 'invalid_key' ? issue.issues : [issue];
  return issues.map(({ message }) => `${placeOf(issue.path)} ${message}`.trimStart());
}

/** The path of a value, always on one line. */
export function placeOf(path: readonly PropertyKey[]): string {
  const codeOf = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  const place = path
    .filter((name) => name !== '')
    .join('.')
    .slice(0, MAX_PLACE_CHARACTERS);
  return place.replaceAll(/[\p{C}\p{Z}]/gu, codeOf);
}
