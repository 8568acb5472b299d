// Statements have named parameters, such as `@clientId`, and are compiled once, when their file is loaded.

/** A statement with its values, ready to run. PostgreSQL keeps its plan under `name`, unless that is empty. */
export interface Query {
  readonly name: string;
  readonly text: string;
  readonly values?: unknown[];
}

export const STATEMENT_NAMES = new Set<string>();

/** The arguments of a tag: a template with SQL, whose parts are SQL too. */
export type SqlTemplate = [strings: TemplateStringsArray, ...parts: readonly (string | number)[]];

export const textOf = ([strings, ...parts]: SqlTemplate): string => String.raw({ raw: strings }, ...parts);

/** `@deadline` of a deciding statement, always its last parameter: set at run time (see `deadline.ts`). */
const DEADLINE = 'deadline';

/**
 * One SQL statement. Its parameters are the names in `text`; `Values` has them, and may have more. Objects are sent as JSON,
 * arrays as PostgreSQL's. @returns binds the statement's values; throws if one is missing
 */
export function statement<Values = void>(name: string, text: string): (values: Values) => Query {
  const compiled = compile(name, text);
  return (given) => {
    const values = compiled.parameters.map((parameter) => valueIn(given, parameter, name));
    return { name, text: compiled.text, values };
  };
}

function valueIn(given: unknown, property: string, statement: string): unknown {
  const value = (given as Readonly<Record<string, unknown>>)[property];
  if (value === undefined) throw new Error(`the statement ${statement} lacks a value for ${property}`);
  return value;
}

/** Values of a batch that are not properties of its requests, by column. */
export type ComputedInputs<Request> = Readonly<Record<string, (request: Request) => string | number | null>>;

const INPUT = /@input\(([^)]*)\)/;

/**
 * One SQL statement for any number of requests. They are the table `@input(grant_id uuid)`, with a row for each, numbered by its
 * column `n` from 1 on. The value of `grant_id` is a request's `grantId`, unless it is computed. A single column is a parameter
 * too: an array, such as `@grant_id`. @returns binds the statement's requests; throws if one lacks a value
 */
export function batchStatement<Request>(
  name: string,
  batchText: string,
  computed: ComputedInputs<Request> = {},
): (requests: readonly Request[]) => Query {
  const [, list = ''] = INPUT.exec(batchText) ?? [];
  const columns = Array.from(
    list.matchAll(/(\w+) (\w+)/g),
    ([, column = '', type]) => [column, type] as const,
  );
  const arrays = columns.map(([column, type]) => `@${column}::${type}[]`).join(', ');
  const names = columns.map(([column]) => column);
  const input = `unnest(${arrays}) with ordinality as input (${names.join(', ')}, n)`;
  const { parameters, text } = compile(name, batchText.replace(INPUT, input));
  const getters = parameters.map((parameter) => {
    if (list !== '' && !names.includes(parameter))
      throw new Error(`the statement ${name} has no column ${parameter}`);
    const property = parameter.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    return computed[parameter] ?? ((request: Request) => valueIn(request, property, name));
  });
  return (requests) => ({ name, text, values: getters.map((get) => requests.map(get)) });
}

/** Excludes casts (`::`) and PostgreSQL's operators such as `@>` or `<@`. */
const PARAMETER = /(?<![\w<@])@([a-z]\w*)/g;

/** Replaces parameters' names by numbers, in the order of their first appearance. */
function compile(name: string, named: string) {
  if (name !== '') STATEMENT_NAMES.add(name);
  const found = new Set(Array.from(named.matchAll(PARAMETER), ([, parameter = '']) => parameter));
  found.delete(DEADLINE);
  const parameters = [...found];
  const numbered = [...parameters, DEADLINE];
  const text = named.replaceAll(PARAMETER, (_, parameter: string) => `$${numbered.indexOf(parameter) + 1}`);
  return { parameters, text };
}
