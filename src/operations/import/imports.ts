import { z } from 'zod';
import { OperatorError } from '../../rules/common/error.ts';
import { createLookAlikeIndex, lookAlikeProblem } from '../../rules/common/lookAlike.ts';
import type { Offer } from '../../rules/request/scopeRules.ts';
import { kindOf } from '../../rules/scope/rights.ts';
import { parseScopeCached } from '../../rules/scope/scope.ts';
import { findClients } from '../../store/common/clients.ts';
import * as store from '../../store/operate/imports.ts';
import { ownsTables } from '../../store/schema/auditPartitions.ts';
import { OPTIONAL_FLAG } from '../fields.ts';
import { type OperationContext, operation } from '../operation.ts';
import { CLIENT_ROW, FORCE_VALUE_BY_FIELD, GRANT_ROW, USER_ROW } from './rows.ts';

// A transaction has 2 MB of lines, since memory is bounded, and a short line counts as 2 KB: at most 1,000.
const BATCH_BYTES = 2_000_000;
const MIN_LINE_BYTES = 2_000;
const MAX_LINE_BYTES = 64 * 1024;
const MAX_LINES_SHOWN = 20;

type Chunks = AsyncIterable<string | Buffer>;

type Row = { readonly doubts: readonly string[]; readonly name?: string; readonly scope?: string } & {
  readonly [column in 'key' | 'external_id' | 'client_id' | 'token_hash']?: string | null | undefined;
} & { readonly allowed_rights?: readonly string[] | null };

type Line = z.ZodType<Row> & { readonly in: { readonly shape: object } };

/** Of its user and its application, as `loadFormerNames` has them. */
const namesOf = ({ key: login, external_id: id, client_id: client }: Row) =>
  [login && `login ${login}`, id && `external_id ${id}`, client && `client_id ${client}`].filter(
    (name) => name != null,
  );

/** No two rows of a batch share one: its statement doesn't see what it writes. */
const idsOf = (row: Row) => (row.token_hash ? [row.token_hash] : namesOf(row));

export const FORCE_VALUES = ['all', ...new Set(Object.values(FORCE_VALUE_BY_FIELD))];

const NOTED_LINE = z.object({ line: z.int(), field: z.string().nullable(), reason: z.string() });
const LINES = z.array(NOTED_LINE).describe(`the first ${MAX_LINES_SHOWN}`);

/** Never has a secret of the line. */
export type NotedLine = z.output<typeof NOTED_LINE> & {
  readonly mark: 'bad' | 'forced' | 'updated' | 'newer_here';
};

const INPUT = z.strictObject({
  chunks: z.custom<Chunks>().meta({ title: 'file' }),
  dryRun: OPTIONAL_FLAG.describe('validate all lines in the database, but write nothing'),
  force: z
    .enum(FORCE_VALUES)
    .optional()
    .describe(
      'accept look-alike names, weak secrets, ambiguous redirect URIs and costly hashes, or only this kind',
    ),
  update: OPTIONAL_FLAG.describe('update what was imported, unless it was changed here since'),
  prune: OPTIONAL_FLAG.describe(
    'block what was imported, unless it was changed here since or is in the file',
  ),
  bad: z.custom<(lines: readonly NotedLine[]) => void>().optional().meta({
    title: 'file',
    description:
      'write each bad, forced or updated line’s number, field and reason to this file: new, or an earlier report',
  }),
});

const OUTPUT = z.object({
  dryRun: z.boolean(),
  lines: z.int(),
  imported: z.int().describe('including users who received an external_id'),
  updated: z.int().optional(),
  unchanged: z.int().describe('already exist with the same values'),
  newer_here: z.int().optional().describe('not updated: changed here since the import'),
  skipped: z.int().describe('expired, or tokens of newer or revoked authorizations, or deleted here'),
  bad: z.int(),
  badLines: LINES,
  forced: z.int().optional().describe('imported only because of --force'),
  forcedLines: LINES.optional(),
  updatedLines: LINES.optional(),
  newerHereLines: LINES.optional(),
  blocked: z.array(z.string()).optional().describe('applications that the file lacks'),
});

export type Imported = z.output<typeof OUTPUT>;

/** Such as `imported`, `forced, name: looks like …` or `login: matches no user`. */
const VERDICT =
  /^(?<count>imported|forced|updated|unchanged|newer_here|skipped)?(?:, )?(?:(?<field>\w+): (?<reason>.+))?$/s;

const NOT_OWNER = 'only the owner of the tables may import: set DATABASE_URL to the role that migrates';

const importOf = (subject: string, things: string, schema: Line, write: typeof store.importUsers) =>
  operation({
    summary: `import ${things} of another service, one JSON object per line; run as the owner of the tables`,
    input: subject === 'client' ? INPUT : (INPUT.omit({ prune: true }) as typeof INPUT),
    output: OUTPUT,
    /** Each batch is a transaction: what an interruption leaves out, the same import does later. */
    async run(context, { chunks, dryRun, force, update, prune, bad: report }) {
      const { db, operator, progress } = context;
      if (!(await ownsTables(db))) throw new OperatorError('state', NOT_OWNER);
      const offer = await context.offer(!dryRun);
      const rights = unknownRights(offer);
      const judge = await judgeFor(context, rights.of, subject, update, force);
      const counts = { imported: 0, forced: 0, updated: 0, unchanged: 0, newer_here: 0, skipped: 0, bad: 0 };
      const shown: Shown = { bad: [], forced: [], updated: [], newer_here: [] };
      const named: Row[] = [];
      for await (const { rows, noted } of batchesOf(chunks, schema)) {
        counts.bad += noted.length;
        if (prune) named.push(...rows.map(({ client_id }) => ({ client_id, doubts: [] })));
        count(await write(db, rows.map(judge), operator.name, dryRun, offer), counts, noted, shown);
        report?.(noted);
        progress(counts.imported, 'imported so far');
      }
      rights.tell(context.warn);
      const lines = Object.values(counts).reduce((sum, count) => sum + count);
      const { forced, updated, newer_here, ...others } = counts;
      const isWhole = prune && counts.bad === 0 && named.length > 0;
      const blocked = isWhole ? await store.blockOtherClients(db, named, operator.name, dryRun, offer) : [];
      return {
        ...{ dryRun, lines, ...others, imported: others.imported + forced, badLines: shown.bad },
        ...(force && { forced, forcedLines: shown.forced }),
        ...(update && { updated, newer_here, updatedLines: shown.updated, newerHereLines: shown.newer_here }),
        ...(prune && { blocked: blocked.map(({ verdict }) => verdict) }),
      };
    },
  });

type Verdicts = Awaited<ReturnType<typeof store.importUsers>>;

type Shown = Record<NotedLine['mark'], NotedLine[]>;

/** Counts the verdicts of a batch. @param noted bad lines, to which those with a reason are added @param shown its first ones */
function count(verdicts: Verdicts, counts: Record<string, number>, noted: NotedLine[], shown: Shown): void {
  for (const { n: line, verdict } of verdicts) {
    const { count: mark = 'bad', field = '', reason } = VERDICT.exec(verdict)?.groups ?? {};
    counts[mark] = (counts[mark] ?? 0) + 1;
    if (reason) noted.push({ line, field, reason, mark: mark as NotedLine['mark'] });
  }
  noted.sort((one, other) => one.line - other.line);
  for (const line of noted) if (shown[line.mark].length < MAX_LINES_SHOWN) shown[line.mark].push(line);
}

export const users = importOf('user', 'users', USER_ROW, store.importUsers);
export const clients = importOf('client', 'applications', CLIENT_ROW, store.importClients);
export const grants = importOf('grant', 'tokens', GRANT_ROW, store.importGrants);

const NOT_KNOWN = 'neither built in nor in the file of CATALOGUE';

/** Finds rights of a row that this installation doesn't offer. `tell`: about those of tokens, which are imported all the same. */
function unknownRights({ catalogue, currency }: Offer) {
  const granted = new Set<string>();
  const of = ({ scope, allowed_rights: rights }: Row): readonly string[] => {
    const names = scope === undefined ? rights : parseScopeCached(scope, currency).map(({ name }) => name);
    const unknown = names?.filter((name) => kindOf(name, catalogue) === undefined) ?? [];
    if (scope !== undefined) for (const name of unknown) granted.add(name);
    return unknown;
  };
  const tell = (warn: OperationContext['warn']) => {
    if (granted.size > 0) warn(`these rights are ${NOT_KNOWN}: ${[...granted].join(', ')}`);
  };
  return { of, tell };
}

/** Gives each row its `problem`, or what is forced as its `doubt`; names are compared with earlier ones, too. */
async function judgeFor(
  { db, serviceNames }: OperationContext,
  unknownIn: (row: Row) => readonly string[],
  subject: string,
  update: boolean,
  force = '',
) {
  const [hasEnded, names] = [await store.loadFormerNames(db, subject === 'grant'), createLookAlikeIndex()];
  const own = subject === 'client' && serviceNames();
  if (own) for (const { name } of await findClients(db)) names.add(name);
  return (row: Row) => {
    const { name = '' } = row;
    const [unknown] = unknownIn(row);
    const unusable = unknown && subject === 'client' ? `rights: ${unknown} is ${NOT_KNOWN}` : undefined;
    const problem = hasEnded(namesOf(row)) ? 'skipped' : unusable;
    const look = own && lookAlikeProblem(name, names.like(name), own);
    const doubts = [...(look ? [`name: ${look}: pass \`force\` to accept it`] : []), ...row.doubts];
    const isForced = (doubt: string) =>
      force === 'all' || FORCE_VALUE_BY_FIELD[doubt.split(':', 1)[0] ?? ''] === force;
    const refused = doubts.find((doubt) => !isForced(doubt));
    if (own && !problem && !refused) names.add(name);
    return Object.assign(row, { problem: problem ?? refused, doubt: doubts[0], update });
  };
}

/** Rows and bad lines of a transaction. */
async function* batchesOf(chunks: Chunks, schema: Line) {
  const begin = () => ({ rows: [] as Row[], noted: [] as NotedLine[], ids: new Set<string>(), bytes: 0 });
  let [batch, line, isFirst] = [begin(), 0, true];
  for await (const text of linesOf(chunks)) {
    line += 1;
    if (isFirst && /^(\xef\xbb\xbf)?\s*\[/.test(text))
      throw new Error('the file is a JSON array: convert it to one JSON object per line with jq -c ".[]"');
    isFirst &&= /^(\xef\xbb\xbf)?\s*$/.test(text);
    const { row, bad } = readLine(schema, text);
    const ids = row ? idsOf(row) : [];
    if (batch.bytes >= BATCH_BYTES || ids.some((id) => batch.ids.has(id))) {
      yield batch;
      batch = begin();
    }
    batch.bytes += Math.max(text.length, MIN_LINE_BYTES);
    for (const id of ids) batch.ids.add(id);
    if (row) batch.rows.push(Object.assign(row, { n: line }));
    if (bad) batch.noted.push({ line, ...bad, mark: 'bad' });
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
/** No value of a row is an object, so that each text before a colon is a name of a field. */
const NAMES = /"(?:[^"\\]|\\.)*"(?=\s*:)/g;
/** The words of field names, ours and others'. A name of other words may be a login, or part of a secret. */
const WORDS =
  /^(account|active|app|at|blocked|client|created|date|disabled|display|e|email|enabled|expires|external|first|full|grant|hash|id|instance|issued|last|login|mail|most|name|password|payment|phone|redirect|reviewed|rights?|role|salt|scopes?|secret|sha256|site|state|status|sub|time|token|type|updated|ur[il]s?|user|username|uuid|verified)$/i;

/** @returns neither for an empty line */
function readLine(schema: Line, line: string): { row?: Row; bad?: Omit<NotedLine, 'line' | 'mark'> } {
  const bad = (reason = '', field?: PropertyKey) => ({ bad: { field: field?.toString() ?? null, reason } });
  if (line.length > MAX_LINE_BYTES) return bad('is longer than 64 KB');
  let json: object;
  try {
    // Most lines need no copy to decode.
    const text = NOT_ASCII.test(line) ? DECODER.decode(Buffer.from(line, 'latin1')) : line;
    if (text.trim() === '') return {};
    json = JSON.parse(text);
  } catch {
    return bad('is not JSON in UTF-8');
  }
  const { data, error } = schema.safeParse(json);
  if (data && line.match(NAMES)?.length !== Object.keys(json).length) return bad('has a field twice');
  if (data !== undefined) return { row: data };
  const [issue] = error.issues;
  if (issue?.code !== 'unrecognized_keys') return bad(issue?.message, issue?.path[0]);
  for (const key of issue.keys) {
    const meant = Object.keys(schema.in.shape).find((field) => isNearly(key, field));
    if (meant !== undefined) return bad(`is not a field of this import: did you mean ${meant}?`, key);
  }
  const wordsOf = (name: string) => name.replaceAll(/\B[A-Z]/g, '_$&').split(/[_-]/);
  const name = issue.keys.find((key) => wordsOf(key).every((word) => WORDS.test(word)));
  return bad('is not a field of this import', name ?? '(unreadable)');
}

/** One letter may be wrong, missing or too much: what differs more could be a login, or part of a secret. */
function isNearly(key: string, field: string): boolean {
  const small = key.toLowerCase();
  const isWrongAt = (at: number) =>
    small.startsWith(field.slice(0, at)) && small.endsWith(field.slice(at + 1));
  return Math.abs(key.length - field.length) < 2 && Array.from(field).some((_, at) => isWrongAt(at));
}
