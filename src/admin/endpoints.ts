import { z } from 'zod';
import type { AnyOperation } from '../operations/operation.ts';
import { toSnakeCase } from '../operations/snakeCase.ts';
import { VERBS } from '../operations/verbs.ts';
import { recordOf } from '../rules/common/recordOf.ts';

/** Verbs whose commands have no noun, or no verb. */
const UNLIKE_COMMANDS: Readonly<Record<string, string>> = { audit: 'audit list', explain: 'refusal show' };

/** Verbs that the method says; of what reads, `list` and `show`. Others are the last part of the path. */
const METHODS: Readonly<Record<string, 'POST' | 'PATCH' | 'DELETE'>> = {
  ...recordOf(['create', 'add'], 'POST'),
  update: 'PATCH',
  ...recordOf(['delete', 'retire'], 'DELETE'),
};

/** The JSON schema of a field's input; undefined for one that only a command can have, such as a file. */
function inJson(schema: z.ZodType): z.core.JSONSchema.BaseSchema | undefined {
  try {
    return z.toJSONSchema(schema, { io: 'input' });
  } catch {
    return undefined;
  }
}

export type Endpoint = ReturnType<typeof endpointOf>;

/** Required names follow their nouns; what is secret is in no path and no query. */
function endpointOf(usage: string, operation: AnyOperation) {
  const command = usage.replace(/ [<[].*/, '');
  const words = (UNLIKE_COMMANDS[command] ?? command).split(' ');
  const verb = words.pop() ?? '';
  const nouns = words.map((noun) => (noun === 'audit' ? noun : `${noun}s`));
  const input = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' });
  const { properties = {}, required = [] } = input;
  const isName = (field: string) => (properties[field] as { title?: string }).title !== undefined;
  const ids = verb === 'create' ? [] : required.filter(isName).slice(0, nouns.length);
  const isRead = operation.effect === 'reads' && required.length === ids.length;
  const method = isRead ? ('GET' as const) : (METHODS[verb] ?? 'POST');
  const isSaid = isRead ? verb === 'list' || verb === 'show' : verb in METHODS;
  const parts = nouns.flatMap((noun, index) => [
    noun,
    ...ids.slice(index, index + 1).map((id) => `{${toSnakeCase(id)}}`),
  ]);
  const fields = Object.entries<z.ZodType>(operation.input.shape)
    .map(([name, schema]) => ({ name, schema: inJson(schema), isId: ids.includes(name) }))
    .filter(({ schema }) => schema !== undefined);
  return {
    /** Such as `clients.secrets.add`. */
    name: [...nouns, verb].join('.'),
    operation,
    method,
    /** With the names of fields in braces. */
    path: `/${['v1', ...parts, ...(isSaid ? [] : [verb])].join('/')}`,
    /** What a request may have in the path, or in the query of GET and DELETE and the body of others; by its name there. */
    fields: new Map(fields.map((field) => [toSnakeCase(field.name), field])),
    /** Those outside the path. */
    others: fields.flatMap(({ name, isId }) => (isId ? [] : [toSnakeCase(name)])),
    isMade: verb === 'create' || verb === 'add',
  };
}

export const ENDPOINTS: readonly Endpoint[] = Object.entries<AnyOperation>(VERBS).map(([usage, operation]) =>
  endpointOf(usage, operation),
);
