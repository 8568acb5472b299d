import { InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type AnyOperation, type OperationContext, readInput } from '../operations/operation.ts';
import { type Row, toSnakeCase } from '../operations/snakeCase.ts';
import { optionNamed, type Shell, withOptionNames } from './shell.ts';
import { withStore } from './withStore.ts';

export interface CommandRow {
  readonly summary: string;
  readonly options?: readonly Option[];
  /** None for the program's own commands. */
  readonly operation?: AnyOperation;
  readonly run: (shell: Shell, options: Options, args: Arguments) => Promise<void>;
}

/** The values of options, by their long names in camel case. */
// biome-ignore lint/suspicious/noExplicitAny: commander has read them, and the schema of the input judges them
export type Options = Readonly<Record<string, any>>;

/** As given; undefined for an omitted optional one. */
export type Arguments = readonly (string | undefined)[];

/** Texts, options and prompts of a command, added to its operation's schemas. */
export interface CommandSettings<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
  Result = unknown,
> {
  readonly summary?: string;
  /** A field's options, instead of its schema's. */
  readonly options?: Readonly<Partial<Record<keyof z.output<Input>, (derived: Option) => readonly Option[]>>>;
  /** Reads fields from options, files and prompts, in place of the derived options' values. */
  readonly read?: (options: Options, shell: Shell, args: Arguments) => object | Promise<object>;
  /** True if the operation itself judges the schema. */
  readonly anySchema?: boolean;
  /** The fields for people, from the document and the operation's whole result; `words.ts` words them. */
  readonly view?: (document: z.output<Output>, thing: Row) => object;
  /** A sentence for people, instead of the document. */
  readonly says?: (result: Result, input: z.output<Input>) => string;
  /** A line for people for each thing of a list, instead of a block. */
  readonly line?: (document: Row) => string;
  readonly none?: string;
}

/** Turns an operation into a command. Its first input fields are arguments, as many as the usage has, the others options. */
export function operationCommand(
  usage: string,
  operation: AnyOperation,
  settings: CommandSettings = {},
): CommandRow {
  const { says, line, none = '', view } = settings;
  const effect = settings.anySchema ? null : operation.effect;
  const show = async (shell: Shell, context: OperationContext, input: Row) => {
    const result = await operation.run(context, input);
    const wordsModule = view && !shell.inJson ? await import('./words.ts') : null;
    const inWords = await wordsModule?.inWordsOf(shell, context.db);
    const shown = (thing: unknown) => {
      const document = operation.output.parse(thing) as object;
      return view && inWords ? inWords(view(document, thing as Row)) : document;
    };
    if (!operation.isList) return shell.printOne(shown(result), says?.(result, input));
    return shell.printList(result, shown, none, line);
  };
  const names = Object.keys(operation.input.shape);
  const named = names.splice(0, usage.match(/[<[]/g)?.length ?? 0);
  const fields = names.map((name) => {
    const schema = operation.input.shape[name] as z.ZodType;
    const derived = optionOf(name, schema);
    const own = settings.options?.[name]?.(derived);
    return { name, derived, options: own ?? [derived, ...negationOf(name, schema, derived)] };
  });
  const options = fields.flatMap((field) => field.options);
  const [, argument] = /\[(.+)\]/.exec(usage) ?? [];
  const longs = options.map(({ long }) => `${long}`).filter((long) => long !== '--force');
  const optional = argument === undefined ? longs : [argument.toUpperCase(), ...longs];
  const yes = operation.asks ? [new Option('--yes', 'do not ask for confirmation')] : [];
  return {
    summary: settings.summary ?? operation.summary,
    operation,
    options: [...options, ...yes],
    async run(shell, given, args) {
      const values = [
        ...named.map((name, index) => [name, args[index]]),
        ...fields.map(({ name, derived }) => [name, given[derived.attributeName()]]),
      ].filter(([, value]) => value !== undefined);
      const said = { ...Object.fromEntries(values), ...(await settings.read?.(given, shell, args)) };
      const input = readInput(operation, said, optional);
      await withStore(shell, (context) => show(shell, context, input), { yes: given.yes, effect });
    },
  };
}

export function optionOf(name: string, schema: z.ZodType): Option {
  const derived = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const { type, title, description, default: preset } = derived;
  const flag = optionNamed(toSnakeCase(name));
  if (type === 'boolean') return new Option(flag, description);
  const option = new Option(`${flag} <${title}>`, description)
    .makeOptionMandatory(schema._zod.optin === undefined)
    .argParser((text) => {
      // The schema's transforms run later, on all fields at once.
      const value = type === 'integer' && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : text;
      const { error } = z.safeParse(schema, value);
      if (error) throw new InvalidArgumentError(withOptionNames(error.issues[0]?.message ?? ''));
      return value;
    });
  return preset === undefined ? option : option.default(preset);
}

/** The other direction of a stored flag, which a change without it leaves; `force` is of one call. */
function negationOf(name: string, schema: z.ZodType, { long, required }: Option): readonly Option[] {
  const hasDefault = z.safeParse(schema, undefined).success;
  if (required || hasDefault || name === 'force') return [];
  return [new Option(`${long}`.replace('--', '--no-'), `the opposite of \`${long}\``)];
}
