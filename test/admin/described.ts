import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent as Connections, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, expect } from 'vitest';
import type { z } from 'zod';
import type { AccessLevel } from '../../src/rules/account/role.ts';
import { openAdmin, operatorToken } from '../support/admin.ts';
import { ledger, refuse } from '../support/ledger.ts';
import { useServer } from '../support/server.ts';
import { faultsOf } from '../support/sound.ts';

// Compares requests and answers with docs/openapi.json, on a server that it describes.

type Schema = z.core.JSONSchema.BaseSchema;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required?: true;
  readonly schema: Schema;
}

interface OperationObject {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
  readonly responses: object;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly description: string; readonly headers?: object }>>;
  };
}

const DOCUMENT: Document = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
);

export const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, said]) => {
    // The reference is to the note of every request.
    const parameters = said.parameters.filter((one): one is Parameter => !('$ref' in one));
    const [, effect = ''] = /role `(\w+)`/.exec(said.description) ?? [];
    return {
      id: said.operationId,
      method: method.toUpperCase(),
      path,
      effect: effect as AccessLevel,
      asks: parameters.some(({ name }) => name === 'confirm'),
      parameters,
      body: said.requestBody?.content['application/json'].schema,
      needsBody: said.requestBody?.required ?? false,
      statuses: Object.keys(said.responses).map(Number),
    };
  }),
);
export type Described = (typeof OPERATIONS)[number];

export interface Asked {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the document that it asks for
  readonly body: any;
}

/** Closes objects to other fields, which the document allows for later versions. */
function closed(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(closed);
  const inner = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]));
  const isObject = inner.type === 'object' && inner.properties !== undefined;
  return isObject ? { additionalProperties: false, ...inner } : inner;
}

const formats = {
  date: true,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
} as const;
const ajv = new Ajv2020({ strict: false, allErrors: true, formats });
ajv.addSchema(closed(DOCUMENT) as object, 'closed');

function checkAt(...place: string[]): ValidateFunction {
  const pointer = place.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  return ajv.getSchema(`closed#/${encodeURI(pointer)}`) as ValidateFunction;
}

const placeOf = ({ method, path }: Described) => ['paths', path, method.toLowerCase()] as const;

export function expectDescribed(operation: Described, { status, headers, body }: Answer): void {
  const said = `${operation.id} is answered ${status}: ${JSON.stringify(body).slice(0, 500)}`;
  expect(operation.statuses, said).toContain(status);
  const isRefused = status >= 400;
  const type = isRefused ? 'application/problem+json' : 'application/json';
  expect([headers['content-type'], headers['cache-control']]).toEqual([type, 'no-store']);
  const place = isRefused ? ['components'] : placeOf(operation);
  const check = checkAt(...place, 'responses', String(status), 'content', type, 'schema');
  check(body);
  expect(check.errors, said).toBeNull();
  if (!isRefused) return;
  const { description, headers: others = {} } = DOCUMENT.components.responses[status] ?? {};
  expect(body.status).toBe(status);
  expect(description, said).toContain(`“${body.rule}”`);
  for (const name of Object.keys(others)) expect(headers[name.toLowerCase()], said).toBeDefined();
}

/** Numbers and booleans are text in a query. */
const ofQuery = new Ajv2020({ strict: false, coerceTypes: true, formats });

export function isAllowed(operation: Described, asked: Asked): boolean {
  const parameters = operation.parameters.map(({ name, in: where, required, schema }) => {
    const value = asked[where]?.[name];
    return value === undefined ? !required : ofQuery.validate(schema, value);
  });
  const known = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const others = Object.keys(asked.query ?? {}).some((name) => !known.includes(name));
  if (others || parameters.includes(false)) return false;
  if (operation.body === undefined) return asked.body === undefined;
  if (asked.body === undefined) return !operation.needsBody;
  return checkAt(...placeOf(operation), 'requestBody', 'content', 'application/json', 'schema')(asked.body);
}

/** As UTF-8 in a URL, also half of a character, which has no valid encoding. */
const encoded = (value: unknown) =>
  encodeURIComponent(String(value).replaceAll(/\p{Surrogate}/gu, '\uE000')).replaceAll(
    '%EE%80%80',
    '%ED%A0%80',
  );

type Headers = Record<string, string>;

export function apiAt(url: string, token: string) {
  const agent = new Connections({ keepAlive: true });
  afterAll(() => agent.destroy());
  const authorization = `Bearer ${token}`;
  return {
    async send(method: string, path: string, headers: Headers, body = ''): Promise<Answer> {
      const length = String(Buffer.byteLength(body));
      const all = { authorization, ...headers, 'content-length': length };
      const asked = request(url, { agent, method, path, headers: all }); // `fetch` would resolve the dots of a path
      asked.end(body);
      const [answer] = await once(asked, 'response');
      return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(await text(answer)) };
    },
    /** Asks for an operation. @param headers beside, or instead of, the usual ones */
    ask(
      { method, path: template }: Described,
      { path = {}, query = {}, body }: Asked,
      headers: Headers = {},
    ) {
      const at = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encoded(path[name]));
      const fields = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
      const search = fields.length === 0 ? '' : `?${fields.join('&')}`;
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      return this.send(method, at + search, { ...type, ...headers }, JSON.stringify(body));
    },
  };
}

export type DescribedServer = Awaited<ReturnType<typeof useDescribed>>;

/** The operators' API beside a server with its database; `ask` uses a token of the highest role. */
export async function useDescribed() {
  const server = await useServer();
  const db = server.database.pool;
  const log: string[] = [];
  afterAll(() => {
    refuse(ledger.search('the log of the API', log));
    expect(faultsOf({ logLines: log })).toEqual([]);
  });
  const url = await openAdmin(db, log);
  const tokenFor = (role: AccessLevel) => operatorToken(db, `may ${role}`, role, 365);
  const [reads, supports] = [await tokenFor('reads'), await tokenFor('supports')];
  const [changes, destroys] = [await tokenFor('changes'), await tokenFor('destroys')];
  const tokens = { reads, supports, changes, destroys };
  return { ...apiAt(url, tokens.destroys), server, tokens };
}
