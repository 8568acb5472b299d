import { z } from 'zod';
import * as audit from '../operations/audit.ts';
import * as clients from '../operations/clients.ts';
import { explain, refusals, showToken } from '../operations/explain.ts';
import * as grants from '../operations/grants.ts';
import type { AnyOperation } from '../operations/operation.ts';
import * as operators from '../operations/operators.ts';
import * as resources from '../operations/resources.ts';
import { toSnakeCase } from '../operations/snakeCase.ts';
import * as users from '../operations/users.ts';
import { recordOf } from '../rules/common/recordOf.ts';

/** Operations by noun and verb. Those for the owner of the tables, or about one machine, are commands only. */
const NOUNS: Readonly<Record<string, object>> = {
  clients: { ...clients, refusals },
  'clients.secrets': clients.secret,
  users,
  grants,
  resources,
  'resources.secrets': resources.secret,
  operators,
  audit: { list: audit.show, next: audit.next },
  refusals: { show: explain },
  tokens: { show: showToken },
};

/** Verbs that the method says; of what reads, `list` and `show`. Others are the last part of the path. */
const METHODS: Readonly<Record<string, 'POST' | 'PATCH' | 'DELETE'>> = {
  ...recordOf(['create', 'add'], 'POST'),
  update: 'PATCH',
  ...recordOf(['remove', 'retire'], 'DELETE'),
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
function endpointOf(noun: string, verb: string, operation: AnyOperation) {
  const input = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' });
  const { properties = {}, required = [] } = input;
  const nouns = noun.split('.');
  const isName = (field: string) => (properties[field] as { title?: string }).title !== undefined;
  const ids = verb === 'create' ? [] : required.filter(isName).slice(0, nouns.length);
  const isRead = operation.effect === 'reads' && required.length === ids.length;
  const method = isRead ? ('GET' as const) : (METHODS[verb] ?? 'POST');
  const isSaid = isRead ? verb === 'list' || verb === 'show' : verb in METHODS;
  const last = isSaid ? [] : [toSnakeCase(verb).replaceAll('_', '-')];
  const parts = nouns.flatMap((one, at) => [
    one,
    ...ids.slice(at, at + 1).map((id) => `{${toSnakeCase(id)}}`),
  ]);
  const fields = Object.entries<z.ZodType>(operation.input.shape)
    .map(([name, schema]) => ({ name, schema: inJson(schema), isId: ids.includes(name) }))
    .filter(({ schema }) => schema !== undefined);
  return {
    name: `${noun}.${verb}`,
    operation,
    method,
    /** With the names of fields in braces. */
    path: `/${['v1', ...parts, ...last].join('/')}`,
    /** What a request may have in the path, or in the query of GET and DELETE and the body of others; by its name there. */
    fields: new Map(fields.map((field) => [toSnakeCase(field.name), field])),
    /** Those outside the path. */
    others: fields.flatMap(({ name, isId }) => (isId ? [] : [toSnakeCase(name)])),
    isMade: verb === 'create' || verb === 'add',
  };
}

export const ENDPOINTS: readonly Endpoint[] = Object.entries(NOUNS).flatMap(([noun, verbs]) =>
  Object.entries<AnyOperation>(verbs as Record<string, AnyOperation>)
    .filter(([, one]) => typeof one === 'object' && 'summary' in one)
    .map(([verb, operation]) => endpointOf(noun, verb, operation)),
);
