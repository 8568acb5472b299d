import type { z } from 'zod';

/** What is wrong with a file that the operator wrote, a line for each mistake. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Parses a JSON file that the operator wrote.
 *
 * @throws {FileError} with all mistakes, each by the path of its value, for example `accent.light must be …`
 */
export function parseOperatorFile<Schema extends z.ZodType>(schema: Schema, json: string): z.output<Schema> {
  const result = schema.safeParse(parseJson(json));
  if (result.success) return result.data;
  throw new FileError([...new Set(result.error.issues.flatMap(linesOf))]);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // The engine's message quotes the file over several lines.
    throw new FileError([`is no JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`]);
  }
}

function linesOf(issue: z.core.$ZodIssue): string[] {
  const place = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return [`${place} ${issue.message}`.trimStart()];
  return issue.keys.map((key) => `${place === '' ? key : `${place}.${key}`} is unknown`);
}
