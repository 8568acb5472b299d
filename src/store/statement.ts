// Statements are written with named parameters, such as `@clientId`, and compiled once, when their file is loaded.

/** A statement with its values, ready to run. PostgreSQL keeps its plan under `name`, unless that is empty. */
export interface Query {
  readonly name: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** What a parameter may be. Objects are sent as JSON, arrays as PostgreSQL's. */
type Value = string | number | boolean | object | null;

/** The parameter of a deciding statement that {@link decide} fills in: `@deadline`, always the last. */
const DEADLINE = 'deadline';

/**
 * One SQL statement with named parameters.
 *
 * @param parameters every name in `text` but `@deadline`
 * @returns gives the statement its values
 * @throws {Error} when `text` and `parameters` don't name the same
 */
export function statement<Parameter extends string>(
  name: string,
  parameters: readonly Parameter[],
  text: string,
): (values: Readonly<Record<Parameter, Value>>) => Query {
  const compiled = compile(name, parameters, text);
  return (values) => ({ name, text: compiled, values: parameters.map((parameter) => values[parameter]) });
}

/** The columns of a batch: for each its PostgreSQL type, and where a request has its value. */
export type Columns<Request> = Readonly<
  Record<string, readonly [type: string, get: (request: Request) => Value]>
>;

/** A {@link Query} over a batch. */
export interface BatchQuery extends Query {
  readonly size: number;
}

/**
 * One SQL statement for any number of requests. They reach it as a table: `input` has a row for each, numbered by its
 * column `n` from 1 on. A column on its own is a parameter too: an array of that name, such as `@grant_id`.
 *
 * @param textOf gets the table, for the statement's `from`
 * @returns gives the statement its requests
 */
export function batchStatement<Request>(
  name: string,
  columns: Columns<Request>,
  textOf: (input: string) => string,
): (requests: readonly Request[]) => BatchQuery {
  const names = Object.keys(columns);
  const arrays = Object.entries(columns).map(([column, [type]]) => `@${column}::${type}[]`);
  const input = `unnest(${arrays.join(', ')}) with ordinality as input (${names.join(', ')}, n)`;
  const text = compile(name, names, textOf(input));
  const getters = Object.values(columns).map(([, get]) => get);
  return (requests) => {
    const values = getters.map((get) => requests.map(get));
    return { name, text, values, size: requests.length };
  };
}

/** No cast (`::`), and no operator of PostgreSQL's such as `@>` or `<@`, looks like a parameter. */
const PARAMETER = /(?<![\w<@])@([a-z]\w*)/g;

/** Numbers the parameters of a text in the order of their names. */
function compile(name: string, parameters: readonly string[], text: string): string {
  const unused = new Set(parameters);
  const numbered = [...parameters, DEADLINE];
  const compiled = text.replaceAll(PARAMETER, (_, parameter: string) => {
    unused.delete(parameter);
    const index = numbered.indexOf(parameter);
    if (index === -1) throw new Error(`the statement ${name} has no parameter ${parameter}`);
    return `$${index + 1}`;
  });
  if (unused.size > 0) throw new Error(`the statement ${name} does not use ${[...unused].join(', ')}`);
  return compiled;
}
