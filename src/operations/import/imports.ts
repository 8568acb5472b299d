import type pg from 'pg';
import { z } from 'zod';
import {
  type Given,
  importBatch,
  importClients,
  importGrants,
  importUsers,
} from '../../store/operate/imports.ts';
import { ownsTables } from '../../store/schema/auditPartitions.ts';
import { linesOf, MAX_LINE_BYTES } from './lines.ts';
import { CLIENT, GRANT, USER } from './rows.ts';

const BATCH_ROWS = 1_000;
/** A batch of long lines has fewer. */
const BATCH_BYTES = 2 ** 21;
const MAX_SHOWN = 20;

type Chunks = AsyncIterable<string | Buffer>;

const BAD_LINE = z.object({ line: z.int(), field: z.string().nullable(), reason: z.string() });

/** Never has a value of the line. */
export type BadLine = z.output<typeof BAD_LINE>;

const INPUT = z.strictObject({
  source: z.custom<{ readonly chunks: Chunks; readonly bytes: number }>().meta({ title: 'file' }),
  dryRun: z.boolean().default(false).describe('check all of it, also against the database, but keep nothing'),
  report: z.custom<(bad: readonly BadLine[]) => void>().describe('takes the bad lines of each batch'),
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
interface Importer extends Record<'operator', string> {
  readonly db: pg.Pool;
  readonly progress: (imported: number, what: string) => void;
}

/** @param keysOf no two rows of a statement have one in common, since it doesn't see what it writes */
const importOf = <Row extends object>(
  subject: string,
  things: string,
  row: z.ZodType<Row>,
  keysOf: (row: Row) => readonly unknown[],
  write: typeof importUsers,
) => ({
  name: `${subject}.import`,
  summary: `import ${things} of another service, a JSON object a line; run as the owner of the tables`,
  input: INPUT,
  output: OUTPUT,
  effect: 'changes' as const,
  /** Each batch is a transaction: what an interruption leaves out, the same import does later. */
  async run({ db, operator, progress }: Importer, { source, dryRun, report }: z.output<typeof INPUT>) {
    if (!(await ownsTables(db)))
      throw new Error('only the owner of the tables may import: set DATABASE_URL to the role that migrates');
    const counts = { imported: 0, unchanged: 0, skipped: 0, bad: 0 };
    const badLines: BadLine[] = [];
    for await (const { rows, bad, bytes } of batchesOf(source.chunks, row, keysOf)) {
      const given: Given = { rows: JSON.stringify(rows), operator };
      for (const { n: line, verdict } of await importBatch(db, dryRun, (one) => write(one, given))) {
        const [name = '', reason] = verdict.split(': ');
        if (reason === undefined) counts[name as keyof typeof counts] += 1;
        else bad.push({ line, field: name, reason });
      }
      bad.sort((one, other) => one.line - other.line);
      report(bad);
      badLines.push(...bad.slice(0, MAX_SHOWN - badLines.length));
      counts.bad += bad.length;
      const share = source.bytes ? `, ${Math.floor((100 * bytes) / source.bytes)} %` : '';
      progress(counts.imported, `imported so far${share}`);
    }
    const lines = Object.values(counts).reduce((sum, count) => sum + count);
    return { dryRun, lines, ...counts, badLines };
  },
});

export const users = importOf(
  'user',
  'users',
  USER,
  ({ key, external_id: id }) => [`login ${key}`, ...(id == null ? [] : [`id ${id}`])],
  importUsers,
);
export const clients = importOf('client', 'applications', CLIENT, (row) => [row.client_id], importClients);
export const grants = importOf('grant', 'tokens', GRANT, (row) => [row.token_hash], importGrants);

/** The lines for one transaction; `bytes` counts from the beginning. */
async function* batchesOf<Row extends object>(
  chunks: Chunks,
  schema: z.ZodType<Row>,
  keysOf: (row: Row) => readonly unknown[],
) {
  let [line, bytes] = [0, 0];
  const begin = () => ({
    rows: [] as object[],
    bad: [] as BadLine[],
    keys: new Set(),
    until: bytes + BATCH_BYTES,
  });
  let batch = begin();
  for await (const text of linesOf(chunks)) {
    line += 1;
    const { row, ...problem } = readLine(schema, text);
    const keys = row ? keysOf(row) : [];
    const isFull = batch.rows.length + batch.bad.length >= BATCH_ROWS || bytes > batch.until;
    if (isFull || keys.some((key) => batch.keys.has(key))) {
      yield { ...batch, bytes };
      batch = begin();
    }
    bytes += text.length + 1;
    for (const key of keys) batch.keys.add(key);
    if (row) batch.rows.push({ ...row, n: line });
    else if (problem.reason) batch.bad.push({ line, field: null, reason: problem.reason, ...problem });
  }
  yield { ...batch, bytes };
}

const DECODER = new TextDecoder('utf-8', { fatal: true }); // drops a byte order mark

/** @returns nothing for an empty line */
function readLine<Row>(
  schema: z.ZodType<Row>,
  bytes: Buffer,
): { row?: Row; field?: string; reason?: string } {
  if (bytes.length > MAX_LINE_BYTES) return { reason: 'is longer than 64 KB' };
  let given: unknown;
  try {
    const text = DECODER.decode(bytes);
    if (text.trim() === '') return {};
    given = JSON.parse(text);
  } catch {
    return { reason: 'is no JSON in UTF-8' };
  }
  const { data, error } = schema.safeParse(given);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return { row: data as Row };
  const [name] = issue.code === 'unrecognized_keys' ? issue.keys : issue.path;
  if (name === undefined) return { reason: issue.message };
  const isName = /^[a-z]\w{0,29}$/i.test(String(name)); // it may be a value in the wrong place
  return { field: isName ? String(name) : '(unreadable)', reason: issue.message };
}
