import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ENDPOINTS } from '../dist/admin/endpoints.js';
import { toSnakeCase, withSnakeCaseKeys } from '../dist/operations/snakeCase.js';
import { STATUS_BY_REASON as STATUSES } from '../dist/rules/common/error.js';
import { FACETS, STORABLE } from './facets.mjs';

// npm run openapi: writes docs/openapi.json, which describes the operators' HTTP API to programs, from its endpoints and the
// schemas of their operations.

/** @typedef {import('zod').core.JSONSchema.BaseSchema} Schema */
/** @typedef {Record<string, Schema>} Fields by their names on the wire */
/** @typedef {(typeof ENDPOINTS)[number]} Endpoint */

/** Parts of the API by noun: what they are about, and the name of one thing of its list. */
const NOUNS = {
  clients: ['Applications', 'Application'],
  'clients.secrets': ['Secrets of applications', 'Secret'],
  users: ['Users', 'User'],
  grants: ['Authorizations: what a user allowed an application', 'Grant'],
  resources: ['Resource servers, which introspect tokens', 'Resource'],
  'resources.secrets': ['Secrets of resource servers', 'Secret'],
  operators: ['Programs that call this API', 'Operator'],
  audit: ['The audit trail', 'AuditEvent'],
  refusals: ['Errors that the server answered'],
  tokens: ['Access tokens'],
};

/** When an operation is refused, by status; the words in quotation marks are each `rule`. */
const REFUSALS = {
  400: 'The request can’t be read: “unreadable_request”. Or `after` is of no use: “unknown_after”.',
  401: 'The request has no token of an operator: “no_operator”; or it is unknown, expired or retired: “invalid_token”.',
  403: 'The operator’s role, or its own token, does not go so far: “not_permitted”.',
  404: 'What the request names does not exist: “not_found”, “no_address”.',
  409: 'It needs `confirm`, and the detail says what would be lost: “not_confirmed”. Or the state of things forbids it: “state”.',
  413: 'The body exceeds 64 KiB: “unreadable_request”.',
  414: 'An id in the path is too long: “unreadable_request”.',
  415: 'The body is not JSON: “unreadable_request”.',
  422: '`field` is missing or unknown, or has a wrong value: “invalid_field”, “unknown_field”, “refused_value”.',
  429: 'Too many requests came from this address without the token of an operator: “too_many_failures”.',
  503: 'The database is unreachable, or the server is busy: “database”, “overload”. A change may be done in part, or complete later: check before you repeat it.',
};

/** The further header of a refusal. */
const HEADERS = {
  401: ['WWW-Authenticate', 'The scheme `Bearer`, with `error="invalid_token"` for a token (RFC 6750)'],
  429: ['Retry-After', 'Seconds'],
  503: ['Retry-After', 'Seconds'],
};

const ROOT = join(import.meta.dirname, '..');
const TEXT = { type: 'string' };

/** Those that the command line alone breaks are left out. */
const RULES = [
  ...Object.keys(STATUSES).filter((rule) => rule !== 'usage'),
  'database',
  'overload',
  'server_error',
];

/** RFC 9457. */
const PROBLEM = {
  type: 'object',
  properties: {
    title: { ...TEXT, description: 'The status in words' },
    status: { type: 'integer' },
    detail: { ...TEXT, description: 'What is wrong, for people' },
    rule: { ...TEXT, enum: RULES, description: 'The broken rule, for programs' },
    reference: { ...TEXT, description: 'Of the request, as in the log' },
    field: { ...TEXT, description: 'The field at fault, if it is a single one' },
  },
  required: ['title', 'status', 'detail', 'rule', 'reference'],
};

/** Nouns whose verbs register or change something: what they take must pass the rules of `src/rules/`. */
const REGISTERING = ['clients', 'clients.secrets', 'users', 'resources', 'resources.secrets', 'operators'];

/** What a body must have as a whole, in keywords that generators ignore; with `anyOf` they make a type of each case. */
const CONDITIONS = {
  'users.create': {
    if: { properties: { password: { type: 'string' } }, required: ['password'] },
    else: { required: ['external_id'] },
  },
  'grants.revoke': { dependentSchemas: { grant_id: { maxProperties: 1 } } },
};

/** With what the rules behind the schemas demand of each text. @param {Fields} fields */
function withFacets(fields, { name }, isBody) {
  const isRegistered = isBody && REGISTERING.includes(name.replace(/\.[^.]+$/, ''));
  const entries = Object.entries(fields).map(([field, schema]) => {
    const facets = (isRegistered && (FACETS[`${name} ${field}`] ?? FACETS[field])) || {};
    const isText = [schema.type].flat().includes('string') && schema.enum === undefined;
    return [
      field,
      { ...schema, ...(isText && schema.pattern === undefined && { pattern: STORABLE }), ...facets },
    ];
  });
  return Object.fromEntries(entries);
}

/**
 * The schema on the wire: dates are text, names are in snake case, and words for a command's help are left out.
 * @param {import('zod').ZodType} schema
 * @param {'input' | 'output'} io
 */
function wireSchema(schema, io) {
  const { $schema, ...whole } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: part }) {
      if (zodSchema._zod.def.type === 'date') Object.assign(part, { ...TEXT, format: 'date-time' });
      if (part.properties !== undefined) part.properties = withSnakeCaseKeys(part.properties);
      if (part.required !== undefined) part.required = part.required.map(toSnakeCase);
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum; // zod states these for every integer
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
      if (io === 'output') delete part.additionalProperties; // a later version may add fields to answers
      delete part.title;
      if (part.default === null) delete part.default; // Java’s generator sends it as the text “null”
      mergeAlternatives(part);
      delete part.readOnly;
    },
  });
  return whole;
}

/** One schema instead of `anyOf` where generators know no other: something or null, and a day or a time. */
function mergeAlternatives(part) {
  const [one, other, ...more] = part.anyOf ?? [];
  if (one === undefined || other === undefined || more.length > 0) return;
  if (other.type === 'null' && typeof one.type === 'string')
    Object.assign(part, one, { type: [one.type, 'null'] });
  else if (one.format === 'date' && other.format === 'date-time')
    Object.assign(part, TEXT, { pattern: `${one.pattern}|${other.pattern}` });
  else return;
  delete part.anyOf;
}

/** The schemas that answers have in common, by name. */
const THINGS = new Map(
  ENDPOINTS.filter(({ name }) => name.endsWith('.list')).map(({ name, operation }) => {
    const [, thing] = NOUNS[name.replace(/\.list$/, '')] ?? [];
    if (thing === undefined) throw new Error(`${name} lists things without a name: add it to NOUNS`);
    return [JSON.stringify(wireSchema(operation.output, 'output')), thing];
  }),
);

/** With a reference instead of each schema that has a name. */
function withReferences(schema) {
  if (typeof schema !== 'object' || schema === null) return schema;
  const thing = THINGS.get(JSON.stringify(schema));
  if (thing !== undefined) return { $ref: `#/components/schemas/${thing}` };
  if (Array.isArray(schema)) return schema.map(withReferences);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReferences(value)]));
}

/** @param {Endpoint} endpoint */
function answerOf({ operation: { isList, effect, output }, isMade }) {
  const one = wireSchema(output, 'output');
  const warnings = { type: 'array', items: TEXT, description: 'What was done although it may be a mistake' };
  const next = { type: ['string', 'null'], description: 'The `after` of the next items; null for none' };
  const page = { items: { type: 'array', items: one }, next };
  const document = effect === 'reads' ? one : { ...one, properties: { ...one.properties, warnings } };
  const schema = isList ? { type: 'object', properties: page, required: Object.keys(page) } : document;
  const description = isList ? 'The list' : isMade ? 'Made' : 'Done';
  return { description, content: { 'application/json': { schema: withReferences(schema) } } };
}

/** The statuses of an operation's refusals. @param {Endpoint} endpoint */
function refusalsOf({ operation: { effect }, method, path, fields }) {
  const absent = [
    ...(effect === 'reads' ? ['403', '409'] : []),
    ...(fields.size === 0 ? ['404'] : []),
    ...(path.includes('{') ? [] : ['414']),
    ...(method === 'GET' ? ['413', '415'] : []),
  ];
  return Object.keys(REFUSALS).filter((status) => !absent.includes(status));
}

const CONFIRM = {
  name: 'confirm',
  in: 'query',
  description: 'True to do it whatever is lost; otherwise 409 says what would be',
  schema: { type: 'boolean', default: false },
};

/** Of every operation. */
const NOTE = {
  name: 'Assent-Note',
  in: 'header',
  description: 'A reason for the audit trail, percent-encoded',
  schema: { ...TEXT, maxLength: 200 },
};

function parametersOf(place, fields, required) {
  const isQuery = place.method === 'GET' || place.method === 'DELETE';
  return Object.entries(withFacets(fields, place, false)).flatMap(([name, { description, ...schema }]) => {
    const { isId = false } = place.fields.get(name) ?? {};
    if (!isId && !isQuery) return [];
    const said = { name, in: isId ? 'path' : 'query', ...(description !== undefined && { description }) };
    return [{ ...said, ...(required.includes(name) && { required: true }), schema }];
  });
}

/** @param {string | undefined} whyNotEmpty the message for an input of ids alone; undefined if that is enough */
function bodyOf(place, fields, required, whyNotEmpty) {
  const own = Object.entries(fields).filter(([name]) => !place.fields.get(name)?.isId);
  if (place.method === 'GET' || place.method === 'DELETE' || own.length === 0) return undefined;
  const needed = required.filter((name) => own.some(([other]) => other === name));
  const schema = {
    type: 'object',
    properties: withFacets(Object.fromEntries(own), place, true),
    ...(needed.length > 0 && { required: needed }),
    ...(needed.length === 0 && whyNotEmpty !== undefined && { minProperties: 1 }),
    additionalProperties: false,
    ...CONDITIONS[place.name],
  };
  return { required: whyNotEmpty !== undefined, content: { 'application/json': { schema } } };
}

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {Endpoint} place */
function operationOf(place) {
  const { name, operation, isMade } = place;
  const { input, summary, effect, asks } = operation;
  const { properties = {}, required = [] } = wireSchema(input, 'input');
  const fields = Object.fromEntries(Object.entries(properties).filter(([one]) => place.fields.has(one)));
  const ids = [...place.fields.values()].filter(({ isId }) => isId);
  const read = input.safeParse(Object.fromEntries(ids.map((id) => [id.name, 'x'])));
  const [issue] = read.error?.issues ?? [];
  const isWhole = issue?.path.length === 0; // the fault is in no single field
  const note = { $ref: '#/components/parameters/AssentNote' };
  const parameters = [...parametersOf(place, fields, required), ...(asks ? [CONFIRM] : []), note];
  const requestBody = bodyOf(place, fields, required, issue?.message);
  const role = `The operator needs the role \`${effect}\`.`;
  return {
    operationId: name
      .replace('.delete', '.remove')
      .replaceAll(/[.-](\w)/g, (_all, letter) => letter.toUpperCase()),
    tags: [name.split('.')[0]],
    summary: capitalized(summary),
    description: isWhole ? `${role} Without any field it answers 422: ${issue.message}.` : role,
    parameters,
    ...(requestBody && { requestBody }),
    responses: {
      [isMade ? 201 : 200]: answerOf(place),
      ...Object.fromEntries(
        refusalsOf(place).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function refusal(status) {
  const [name, description] = HEADERS[status] ?? [];
  const schema = { $ref: '#/components/schemas/Problem' };
  return {
    description: REFUSALS[status],
    ...(name !== undefined && { headers: { [name]: { description, required: true, schema: TEXT } } }),
    content: { 'application/problem+json': { schema } },
  };
}

function componentsOf() {
  const things = [...THINGS].map(([schema, name]) => [name, JSON.parse(schema)]);
  const statuses = Object.keys(REFUSALS).map((status) => [status, refusal(Number(status))]);
  return {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    parameters: { AssentNote: NOTE },
    responses: Object.fromEntries(statuses),
    schemas: { ...Object.fromEntries(things), Problem: PROBLEM },
  };
}

/** In the order of the document: modules list their exports by name, and vitest by place. */
const METHODS = ['POST', 'GET', 'PATCH', 'DELETE'];

/** The operations of a noun by path and method. @param {Endpoint[]} endpoints */
function pathsOf(endpoints) {
  const paths = [...new Set(endpoints.map(({ path }) => path))].sort();
  return paths.map((path) => {
    const places = METHODS.flatMap((method) =>
      endpoints.filter((place) => place.path === path && place.method === method),
    );
    return [
      path,
      Object.fromEntries(places.map((place) => [place.method.toLowerCase(), operationOf(place)])),
    ];
  });
}

/** The document. @param {string} version of the program */
export function openApi(version) {
  const tags = Object.keys(NOUNS).filter((noun) => !noun.includes('.'));
  const paths = tags.flatMap((tag) => pathsOf(ENDPOINTS.filter(({ name }) => name.split('.')[0] === tag)));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Assent for operators',
      version,
      license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
      description:
        'The verbs of operators over HTTP, at `ADMIN_PORT`. Unknown fields are refused, and the other methods of an address get 405 with a Problem.',
    },
    servers: [
      {
        url: 'http://{address}',
        variables: { address: { default: '127.0.0.1:3002', description: '`ADMIN_HOST` and `ADMIN_PORT`' } },
      },
    ],
    security: [{ bearer: [] }],
    tags: tags.map((name) => ({ name, description: NOUNS[name]?.[0] })),
    paths: Object.fromEntries(paths),
    components: componentsOf(),
  };
}

/** The text of docs/openapi.json. */
export function openApiText() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return `${JSON.stringify(openApi(version), null, 2)}\n`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(join(ROOT, 'docs/openapi.json'), openApiText());
