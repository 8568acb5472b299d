import { setTimeout } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../listener/caller.ts';
import { LIMIT } from '../operations/fields.ts';
import {
  type AnyOperation,
  type Loss,
  type OperationContext,
  perform,
  type RowPages,
  requireRole,
} from '../operations/operation.ts';
import { type Row, withSnakeCaseKeys } from '../operations/snakeCase.ts';
import type { FileOperators } from '../rules/account/operatorsFile.ts';
import { OperatorError } from '../rules/common/error.ts';
import { type Actor, actorParameters, recordLook } from '../store/common/auditEvents.ts';
import type { Endpoint } from './endpoints.ts';

/** What operations need beside their operator and input. */
export type AdminDependencies = Pick<OperationContext, 'db' | 'serviceNames' | 'commandNames' | 'offer'> & {
  readonly fileOperators: () => FileOperators;
};

/** Rows of a list in one answer. */
const MAX_ROWS = 1_000;
/** Exchanges come first: after so many rows of a list there is a rest. */
const ROWS_AT_ONCE = 50;
const REST_MS = 10;

/**
 * Runs the operation of a request whose operator is known.
 * @param goOn awaited between batches @returns the answer's document @throws {OperatorError}, and what operations throw
 */
export async function runEndpoint(
  endpoint: Endpoint,
  request: FastifyRequest,
  dependencies: AdminDependencies,
  goOn: () => Promise<void>,
) {
  const { operation } = endpoint;
  const { operator } = request;
  if (operator === null) throw new OperatorError('no_operator', 'there is no operator');
  requireRole({ token: operator }, operation.effect);
  const { isConfirmed, given } = readRequest(endpoint, request);
  const warnings: string[] = [];
  const caller = {
    ...dependencies,
    commandNames: [
      ...dependencies.commandNames,
      ...[...dependencies.fileOperators().values()].map((one) => one.name),
    ],
    operator: actorOf(operator.name, request),
    token: operator,
    warn: (sentence: string) => warnings.push(sentence),
    progress: goOn,
    async confirm(loss: () => Promise<Loss>) {
      if (isConfirmed) return;
      throw new OperatorError(
        'not_confirmed',
        `This would ${(await loss()).deed}: repeat with ?confirm=true.`,
      );
    },
  };
  const result = await perform(operation, caller, given, endpoint.others);
  const { document, shown } = operation.isList
    ? await pageOf(operation, result, given, goOn)
    : { document: withSnakeCaseKeys(operation.output.parse(result) as Row), shown: [result] };
  if (operation.effect === 'reads') await noteLook(caller, shown);
  return warnings.length === 0 ? document : { ...document, warnings };
}

const MAX_NOTE_CHARACTERS = 200;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign stands for itself
  }
}

/** The note is UTF-8, percent-encoded where a client can't send it otherwise. @throws {OperatorError} */
function actorOf(name: string, request: FastifyRequest): Actor {
  const sent = Buffer.from(String(request.headers['assent-note'] ?? ''), 'latin1').toString();
  const note = decoded(sent);
  if (note.length > MAX_NOTE_CHARACTERS || /\p{Cc}/u.test(note)) {
    const detail = `Assent-Note may have ${MAX_NOTE_CHARACTERS} characters, in one line.`;
    throw new OperatorError('unreadable_request', detail);
  }
  const { address, reference } = callerOf(request);
  return { name, address, reference, note: note.trim() || undefined };
}

/** The fields of the input, by the names of its schema. @throws {OperatorError} */
function readRequest({ operation, fields, method, others }: Endpoint, request: FastifyRequest) {
  const isQuery = method === 'GET' || method === 'DELETE';
  const { confirm, ...query } = request.query as Record<string, unknown>;
  const isConfirmed = confirm === 'true';
  const unknownField = (name: string) => {
    const known = `the ${isQuery ? 'query' : 'body'} may have ${others.join(', ') || 'none'}`;
    return new OperatorError('unknown_field', `There is no field ${name} there: ${known}.`, name);
  };
  if (confirm !== undefined && !operation.asks) throw unknownField('confirm');
  if (confirm !== undefined && confirm !== 'false' && !isConfirmed)
    throw new OperatorError('unreadable_request', 'confirm must be true or false.', 'confirm');
  const { body = {} } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new OperatorError('unreadable_request', 'The body must be a JSON object.');
  const [misplaced] = Object.keys(isQuery ? body : query);
  if (misplaced !== undefined) throw unknownField(misplaced);
  const read = (from: object, isPath: boolean) =>
    Object.entries(from).map(([name, value]) => {
      const field = fields.get(name);
      if (field?.isId !== isPath) throw unknownField(name);
      return [field.name, isQuery ? fromText(value, field.schema?.type) : value];
    });
  const given = [...read(isQuery ? query : body, false), ...read(request.params as object, true)];
  const whole: Row = Object.fromEntries(given);
  // A list reads no more than a page, unless its limit means the newest.
  const { limit } = operation.input.shape;
  const isFirst = limit !== undefined && (limit === LIMIT || whole.after !== undefined);
  return { isConfirmed, given: isFirst ? { limit: MAX_ROWS, ...whole } : whole };
}

/** Numbers are text in a query. */
const fromText = (value: unknown, type: unknown) =>
  type === 'integer' && typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;

/** An answer about one user is a look at that person (GDPR article 5(2), PCI DSS 10.2). @param shown with `userId`, where it has one */
async function noteLook({ db, operator }: Pick<OperationContext, 'db' | 'operator'>, shown: readonly Row[]) {
  const [userId, ...others] = new Set(shown.map((one) => one.userId).filter((id) => typeof id === 'string'));
  if (userId !== undefined && others.length === 0)
    await recordLook(db, { userId, ...actorParameters(operator) });
}

/** A list up to {@link MAX_ROWS}, or a short one, and the `after` of the next one; null if there is none. */
async function pageOf(
  { after, output }: AnyOperation,
  pages: RowPages<Row>,
  { limit }: Row,
  goOn: () => Promise<void>,
) {
  const most = after === undefined ? Number.POSITIVE_INFINITY : Math.min(Number(limit ?? MAX_ROWS), MAX_ROWS);
  const rows: Row[] = [];
  for await (const page of pages) {
    if (rows.length === most) break; // only now: one that ends by itself gives its connection back
    await goOn();
    rows.push(...page.slice(0, most - rows.length));
  }
  const items: Row[] = [];
  for (const row of rows) {
    items.push(withSnakeCaseKeys(output.parse(row) as Row));
    if (items.length % ROWS_AT_ONCE === 0) await setTimeout(REST_MS);
  }
  const next = rows.length < most ? null : (after?.(rows.at(-1)) ?? null);
  return { document: { items, next }, shown: rows };
}
