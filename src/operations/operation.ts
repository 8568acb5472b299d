import type pg from 'pg';
import type { z } from 'zod';

export interface Loss {
  /** Such as `delete the application Shop and revoke 2 authorizations`. */
  readonly deed: string;
  /** How much; there is no question about nothing. */
  readonly count: number;
}

/** On whose behalf an operation runs, and how the surface that it was called at goes on meanwhile. */
export interface Caller {
  readonly db: pg.Pool;
  /** The name in the audit trail. */
  readonly operator: string;
  /** The service's names, which no name or password may be like. */
  readonly serviceNames: () => readonly string[];
  /** Takes what to warn of in something that is done all the same. */
  readonly warn: (sentence: string) => void;
  readonly progress: (revoked: number) => void;
  /** Called before something is lost for good; asks, or throws when it isn't agreed to. */
  readonly confirm: (loss: () => Promise<Loss>) => Promise<void>;
}

/** A list by pages, as long as its reader takes them. */
export type Pages<Row> = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/** A verb of operators, said once for every surface that they have. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Result = unknown,
> {
  /** Dotted, such as `client.secret.add`: the command is `client secret add`. */
  readonly name: string;
  /** The beginning of its help, without a capital or a full stop. */
  readonly summary: string;
  /** Of each field the title stands for its value in help, and the description says what it does. */
  readonly input: Input;
  /** The fields of the result that are shown, in this order; of a list, those of each row. */
  readonly output: Output;
  readonly effect: 'reads' | 'changes' | 'destroys';
  readonly isList?: boolean;
  /** @throws {NotFoundError} for what the input names and isn't there; {@link RegistrationError} for what it may not be */
  run(caller: Caller, input: z.output<Input>): Promise<Result>;
}

// biome-ignore lint/suspicious/noExplicitAny: an input is checked by the schema beside it
export type AnyOperation = Operation<z.ZodObject, z.ZodType, any>;

export function operation<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Result extends z.input<Output>,
>(said: Operation<Input, Output, Result>): Operation<Input, Output, Result> {
  return said;
}

export function listing<
  Input extends z.ZodObject,
  Output extends z.ZodType,
  Result extends Pages<z.input<Output>>,
>(said: Omit<Operation<Input, Output, Result>, 'effect' | 'isList'>): Operation<Input, Output, Result> {
  return { ...said, effect: 'reads', isList: true };
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @param incomplete is said where each field is good, and not all together @throws {UsageError} */
export function readInput<Input extends z.ZodObject>(
  { input }: Operation<Input>,
  given: unknown,
  incomplete = '',
): z.output<Input> {
  const { data, error } = input.safeParse(given);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  throw new UsageError((issue?.path.length === 0 && incomplete) || issue?.message);
}

/** Runs an operation without warnings and progress. @throws {UsageError} before a loss, unless the caller confirms it */
export function perform<Input extends z.ZodObject, Result>(
  operation: Operation<Input, z.ZodType, Result>,
  caller: Pick<Caller, 'db' | 'operator'> & Partial<Caller>,
  given: z.input<Input>,
): Promise<Result> {
  const confirm: Caller['confirm'] = async (loss) => {
    throw new UsageError(`not confirmed: it would ${(await loss()).deed}`);
  };
  const silent = { serviceNames: () => [], warn() {}, progress() {}, confirm };
  return operation.run({ ...silent, ...caller }, readInput(operation, given));
}

export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** The thing that an input names. @throws {NotFoundError} */
export function found<Thing extends NonNullable<unknown>>(
  thing: Thing | null,
  kind: string,
  name: string,
): Thing {
  if (thing === null) throw new NotFoundError(`there is no ${kind} ${name}`);
  return thing;
}
