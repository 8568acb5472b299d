import type pg from 'pg';
import type { z } from 'zod';
import type { FileOperator } from '../rules/account/operatorsFile.ts';
import { type AccessLevel, permits } from '../rules/account/role.ts';
import { OperatorError } from '../rules/common/error.ts';
import { BUILT_IN_OFFER, type Offer } from '../rules/request/scopeRules.ts';
import type { Actor } from '../store/common/auditEvents.ts';
import { type Row, toSnakeCase } from './snakeCase.ts';

export interface Loss {
  /** Such as `delete the application Shop and revoke 2 authorizations`. */
  readonly deed: string;
  /** How much is lost; 0 needs no answer. */
  readonly count: number;
}

export interface OperationContext {
  readonly db: pg.Pool;
  readonly operator: Actor;
  /** The service's own names, which no name or password may resemble. */
  readonly serviceNames: () => readonly string[];
  /** The names that commands write into the audit trail, as far as they are known. */
  readonly commandNames: readonly string[];
  /** The rights on offer, as the servers have them. @param keeps stores them for a later first start @throws {OperatorError} */
  readonly offer: (keeps?: boolean) => Promise<Offer>;
  /** Receives warnings about an action that is carried out anyway. */
  readonly warn: (sentence: string) => void;
  /** Awaited between batches, where others may have their turn. @param what follows the number; `revoked` by default */
  readonly progress: (count: number, what?: string) => void | Promise<void>;
  /** Called before an irreversible loss; asks, or throws without consent. */
  readonly confirm: (loss: () => Promise<Loss>) => Promise<void>;
  /** What the operator's token opens, and until when; undefined for a command. */
  readonly token?: Pick<FileOperator, 'role' | 'expiresAt'> | undefined;
}

/** A list in pages, read at the consumer's pace. */
export type RowPages<Row> = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/** An operator's action, defined once for every surface. */
export interface Operation<Input extends z.ZodObject, Output extends z.ZodType, Result> {
  /** The beginning of its help, without capital or full stop. */
  readonly summary: string;
  /** A field's title stands for its value in help; its description says what it does. */
  readonly input: Input;
  /** The shown fields of the result, in this order; for a list, those of each row. */
  readonly output: Output;
  /** What it needs an operator's role for. */
  readonly effect: AccessLevel;
  /** It asks before an irreversible loss, as each does that `destroys`. */
  readonly asks: boolean;
  readonly isList?: boolean;
  /** Of a list: the value of its input `after` with which it goes on behind this row. */
  after?(row: Result extends RowPages<infer Row> ? Row : never): string;
  run(context: OperationContext, input: z.output<Input>): Promise<Result>;
}

// biome-ignore lint/suspicious/noExplicitAny: the operation's schema checks an input
export type AnyOperation = Operation<z.ZodObject, z.ZodType, any>;

type Defaulted = 'effect' | 'asks';
type OperationDefinition<Whole extends Record<Defaulted, unknown>> = Omit<Whole, Defaulted> &
  Partial<Pick<Whole, Defaulted>>;

/** An operation that `changes`, unless it says otherwise. */
export function operation<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Result extends z.input<Output>,
>(said: OperationDefinition<Operation<Input, Output, Result>>): Operation<Input, Output, Result> {
  return { effect: 'changes', asks: said.effect === 'destroys', ...said };
}

export function listOperation<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Result extends RowPages<z.input<Output>>,
>(said: OperationDefinition<Operation<Input, Output, Result>>): Operation<Input, Output, Result> {
  return { effect: 'reads', asks: false, ...said, isList: true };
}

/** Characters that PostgreSQL doesn't store. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** @param fields those that may be given, by their names at the surface @throws {OperatorError} */
export function readInput<Input extends z.ZodObject>(
  { input }: { readonly input: Input },
  given: unknown,
  fields: readonly string[] = [],
): z.output<Input> {
  const read = input.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    const [field] = issue?.code === 'unrecognized_keys' ? issue.keys : (issue?.path ?? []);
    if (field === undefined)
      throw new OperatorError('invalid_field', `${issue?.message}`.replace('{fields}', OR.format(fields)));
    const isMissing = (given as Row)[String(field)] === undefined;
    throw invalid(String(field), isMissing ? 'is missing' : (issue?.message ?? ''));
  }
  for (const [field, value] of Object.entries(read.data))
    if ([value].flat().some((text) => typeof text === 'string' && UNSTORABLE.test(text)))
      throw invalid(field, 'has a character that can’t be stored');
  return read.data;
}

const invalid = (field: string, why: string) =>
  new OperatorError('invalid_field', `${toSnakeCase(field)}: ${why}`, toSnakeCase(field));

/** Runs an operation without warnings or progress. @throws {OperatorError} before a loss, unless `confirm` allows it */
export function perform<Input extends z.ZodObject, Result>(
  operation: Operation<Input, z.ZodType, Result>,
  context: Pick<OperationContext, 'db' | 'operator'> & Partial<OperationContext>,
  given: z.input<Input>,
  fields?: readonly string[],
): Promise<Result> {
  const confirm: OperationContext['confirm'] = async (loss) => {
    throw new OperatorError('not_confirmed', `not confirmed: it would ${(await loss()).deed}`);
  };
  const silent = {
    serviceNames: () => [],
    commandNames: [],
    offer: async () => BUILT_IN_OFFER,
    warn() {},
    progress() {},
    confirm,
  };
  return operation.run({ ...silent, ...context }, readInput(operation, given, fields));
}

/** A command may do all. @throws {OperatorError} */
export function requireRole({ token }: Pick<OperationContext, 'token'>, role: AccessLevel): void {
  if (token && !permits(token.role, role))
    throw new OperatorError('not_permitted', `this requires an operator with the role ${role}`);
}

/** The thing named by an input. @throws {OperatorError} */
export function ensureFound<Thing extends NonNullable<unknown>>(
  thing: Thing | null,
  kind: string,
  name: string,
) {
  if (thing === null) throw new OperatorError('not_found', `there is no ${kind} ${name}`);
  return thing;
}
