import { setTimeout } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { LIMIT } from '../operations/fields.ts';
import {
  type AnyOperation,
  type Loss,
  type OperationContext,
  perform,
  type RowPages,
} from '../operations/operation.ts';
import { type Row, withSnakeCaseKeys } from '../operations/snakeCase.ts';
import { permits } from '../rules/account/role.ts';
import { OperatorError } from '../rules/common/error.ts';
import type { Endpoint } from './endpoints.ts';

/** What operations need beside their operator and input. */
export type AdminDependencies = Pick<OperationContext, 'db' | 'serviceNames' | 'commandNames' | 'offer'>;

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
  if (operator === null || !permits(operator.role, operation.effect))
    throw new OperatorError('not_permitted', `this requires an operator with the role ${operation.effect}`);
  const { isConfirmed, given } = readRequest(endpoint, request);
  const warnings: string[] = [];
  const caller = {
    ...dependencies,
    operator: operator.name,
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
  const document = operation.isList
    ? await pageOf(operation, result, given, goOn)
    : withSnakeCaseKeys(operation.output.parse(result) as Row);
  return warnings.length === 0 ? document : { ...document, warnings };
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
  if (confirm !== undefined && operation.effect !== 'destroys') throw unknownField('confirm');
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

/** A list up to {@link MAX_ROWS}, or a short one, and the `after` of the next one; null if there is none. */
async function pageOf(
  { after, output }: AnyOperation,
  pages: RowPages<unknown>,
  { limit }: Row,
  goOn: () => Promise<void>,
) {
  const most = after === undefined ? Number.POSITIVE_INFINITY : Math.min(Number(limit ?? MAX_ROWS), MAX_ROWS);
  const rows: unknown[] = [];
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
  return { items, next: rows.length < most ? null : (after?.(rows.at(-1)) ?? null) };
}
