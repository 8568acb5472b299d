import type pg from 'pg';
import { z } from 'zod';
import { importClients, importGrants, importUsers } from '../../store/operate/imports.ts';
import { ownsTables } from '../../store/schema/auditPartitions.ts';
import { CLIENT, GRANT, USER } from './rows.ts';

// A transaction has 2 MB of lines, since memory is bounded, and a short line counts as 2 KB: at most 1,000.
const BATCH_BYTES = 2_000_000;
const MIN_LINE_BYTES = 2_000;
const MAX_LINE_BYTES = 64 * 1024;
const MAX_SHOWN = 20;

type Chunks = AsyncIterable<string | Buffer>;
type Schema = z.ZodType<{ readonly id: unknown }>;

const BAD_LINE = z.object({ line: z.int(), field: z.string().nullable(), reason: z.string() });

/** Never has a value of the line. */
export type BadLine = z.output<typeof BAD_LINE>;

const INPUT = z.strictObject({
  source: z.custom<{ chunks: Chunks; share?: () => number }>().meta({ title: 'file' }),
  dryRun: z.boolean().default(false).describe('check all of it, also against the database, but keep nothing'),
  bad: z
    .custom<(lines: readonly BadLine[]) => void>()
    .optional()
    .meta({ title: 'file', description: 'write line, field and reason of all that is bad to this file' }),
});

const OUTPUT = z.object({
  dryRun: z.boolean(),
  lines: z.int(),
  imported: z.int(),
  unchanged: z.int().describe('they are there already'),
  skipped: z.int().describe('expired tokens, and those of authorizations that are newer or revoked here'),
  bad: z.int(),
  badLines: z.array(BAD_LINE).describe(`the first ${MAX_SHOWN}`),
});

export type Imported = z.output<typeof OUTPUT>;

/** The part of a `Caller` that an import needs; `operation.ts` is above this folder. */
type Importer = { db: pg.Pool; operator: string; progress(imported: number, what: string): void };

const importOf = (subject: string, things: string, schema: Schema, write: typeof importUsers) => ({
  name: `${subject}.import`,
  summary: `import ${things} of another service, a JSON object a line; run as the owner of the tables`,
  input: INPUT,
  output: OUTPUT,
  effect: 'changes' as const,
  /** Each batch is a transaction: what an interruption leaves out, the same import does later. */
  async run({ db, operator, progress }: Importer, { source, dryRun, bad: report }: z.output<typeof INPUT>) {
    if (!(await ownsTables(db)))
      throw new Error('only the owner of the tables may import: set DATABASE_URL to the role that migrates');
    const counts = { imported: 0, unchanged: 0, skipped: 0, bad: 0 };
    const badLines: BadLine[] = [];
    for await (const { rows, bad } of batchesOf(source.chunks, schema)) {
      for (const { n: line, verdict } of await write(db, [...rows.values()], operator, dryRun)) {
        const [name = '', reason] = verdict.split(': ');
        if (reason === undefined) counts[name as keyof typeof counts] += 1;
        else bad.push({ line, field: name, reason });
      }
      bad.sort((one, other) => one.line - other.line);
      report?.(bad);
      badLines.push(...bad.slice(0, MAX_SHOWN - badLines.length));
      counts.bad += bad.length;
      const share = source.share ? `, ${Math.floor(100 * source.share())} %` : '';
      progress(counts.imported, `imported so far${share}`);
    }
    const lines = Object.values(counts).reduce((sum, count) => sum + count);
    return { dryRun, lines, ...counts, badLines };
  },
});

export const users = importOf('user', 'users', USER, importUsers);
export const clients = importOf('client', 'applications', CLIENT, importClients);
export const grants = importOf('grant', 'tokens', GRANT, importGrants);

/** Lines of a transaction. No two rows share an `id`, since its statement doesn't see what it writes. */
async function* batchesOf(chunks: Chunks, schema: Schema) {
  const begin = () => ({ rows: new Map<unknown, object>(), bad: [] as BadLine[], bytes: 0 });
  let [batch, line] = [begin(), 0];
  for await (const text of linesOf(chunks)) {
    line += 1;
    const { row, bad } = readLine(schema, text);
    if (batch.bytes >= BATCH_BYTES || batch.rows.has(row?.id)) {
      yield batch;
      batch = begin();
    }
    batch.bytes += Math.max(text.length, MIN_LINE_BYTES);
    if (row) batch.rows.set(row.id, { ...row, n: line });
    if (bad) batch.bad.push({ line, ...bad });
  }
  yield batch;
}

/** Lines without their end, each byte a character. One that is too long is cut, but still too long. */
async function* linesOf(chunks: Chunks): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const lines = `${rest}${bytes.toString('latin1')}`.split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LINE_BYTES + 1);
    yield* lines;
  }
  yield rest;
}

const NOT_ASCII = /[\x80-\xff]/;
const DECODER = new TextDecoder('utf-8', { fatal: true }); // drops a byte order mark

/** @returns neither for an empty line */
function readLine<Row>(schema: z.ZodType<Row>, line: string): { row?: Row; bad?: Omit<BadLine, 'line'> } {
  const bad = (reason = '', field?: PropertyKey) => ({ bad: { field: field?.toString() ?? null, reason } });
  if (line.length > MAX_LINE_BYTES) return bad('is longer than 64 KB');
  let given: unknown;
  try {
    // Most lines need no copy to decode.
    const text = NOT_ASCII.test(line) ? DECODER.decode(Buffer.from(line, 'latin1')) : line;
    if (text.trim() === '') return {};
    given = JSON.parse(text);
  } catch {
    return bad('is no JSON in UTF-8');
  }
  const { data, error } = schema.safeParse(given);
  if (data !== undefined) return { row: data };
  const [issue] = error?.issues ?? [];
  if (issue?.code !== 'unrecognized_keys') return bad(issue?.message, issue?.path[0]);
  const name = issue.keys.find((key) => /^[a-z]\w{0,29}$/i.test(key)); // others may be values
  return bad('is no field of this import', name ?? '(unreadable)');
}
