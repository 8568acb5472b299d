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

/** At most one screen. */
const MAX_LINES = 20;
const MAX_PLACE_CHARACTERS = 100;

/** Parses an operator's JSON file. @throws {FileError} each mistake by its path, for example `accent.light must be …` */
export function parseOperatorFile<Schema extends z.ZodType>(schema: Schema, json: string): z.output<Schema> {
  const result = schema.safeParse(parseJson(json));
  if (result.success) return result.data;
  const lines = [...new Set(result.error.issues.flatMap(linesOf))];
  const more = lines.length - MAX_LINES;
  throw new FileError(more > 0 ? [...lines.slice(0, MAX_LINES), `has ${more} more mistakes`] : lines);
}

/** @throws {FileError} on one line */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // The engine's message quotes the file over several lines.
    throw new FileError([`is not JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`]);
  }
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${placeOf([...issue.path, key])} is unknown`);
  const issues = issue.code === 'invalid_key' ? issue.issues : [issue];
  return issues.map(({ message }) => `${placeOf(issue.path)} ${message}`.trimStart());
}

/** The path of a value, always on one line. */
function placeOf(path: readonly PropertyKey[]): string {
  const codeOf = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  const place = path.join('.').slice(0, MAX_PLACE_CHARACTERS);
  return place.replaceAll(/[\p{C}\p{Z}]/gu, codeOf);
}
