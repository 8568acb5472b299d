import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FUZZ_TIMEOUT_MS, fuzz } from '../support/http/fuzz.ts';
import {
  type Asked,
  type Described,
  expectDescribed,
  isAllowed,
  OPERATIONS,
  type Schema,
  useDescribed,
} from './described.ts';
import { fullRequest, makeReference, makeThings, type Things } from './things.ts';

// Random requests, from the schemas of docs/openapi.json and from other values, are answered as the document says.

const api = await useDescribed();
const reference = await makeReference(api);

const RUNS = 40;

const TEXT = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: 'binary' }) },
  fc.constantFrom('\0', '\ud800', '\udfff\ud800', '.', '..', '%', '%ff', '/', ' ', 'a'.repeat(1_500)),
);
const ANYTHING = fc.oneof(TEXT, fc.jsonValue(), fc.array(TEXT));

/** The values that a schema allows. */
function allowedBy(schema: Schema): fc.Arbitrary<unknown> {
  const { anyOf, type, pattern, minLength, maxLength, minimum, maximum, items, properties = {} } = schema;
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => allowedBy(one as Schema)));
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => allowedBy({ ...schema, type: one })));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: minimum ?? -(2 ** 31), max: maximum ?? 2 ** 31 });
  if (type === 'array') return fc.array(allowedBy(items as Schema), { maxLength: 5 });
  if (type === 'object') {
    const entries = Object.entries(properties).map(([name, one]) => [name, allowedBy(one as Schema)]);
    return fc.record(Object.fromEntries(entries));
  }
  if (type === 'null') return fc.constant(null);
  const form = new RegExp(pattern ?? '', 'u');
  const isOpen = pattern === undefined || /\[\^|\\p/.test(pattern); // such classes are unknown to fast-check
  const text = fc.string({
    unit: 'grapheme',
    minLength: minLength ?? 0,
    maxLength: Math.min(maxLength ?? 20, 20),
  });
  return isOpen ? text.filter((one) => form.test(one)) : fc.stringMatching(form);
}

/** Not `String`: a random object may have a `toString` that is not a function. */
const asText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Each field is right, allowed, anything, or missing. */
function requestOf(operation: Described, things: Things): fc.Arbitrary<Asked> {
  const right = fullRequest(operation, things);
  const field = (schema: Schema, value: unknown) =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, allowedBy(schema), ANYTHING);
  const inUrl = (where: 'path' | 'query') =>
    Object.fromEntries(
      operation.parameters
        .filter((one) => one.in === where)
        .map(({ name, schema }) => [name, field(schema, right[where]?.[name] ?? 'true').map(asText)]),
    );
  const inBody = Object.entries(operation.body?.properties ?? {}).map(([name, schema]) => {
    const value = (right.body as Record<string, unknown> | undefined)?.[name] ?? null;
    return [name, field(schema as Schema, value)];
  });
  const body = fc.oneof(
    { weight: 9, arbitrary: fc.record(Object.fromEntries(inBody), { requiredKeys: [] }) },
    fc.jsonValue(),
  );
  return fc.record({
    path: fc.record(inUrl('path')),
    query: fc.record(inUrl('query'), { requiredKeys: [] }),
    ...(operation.body !== undefined && { body }),
  }) as fc.Arbitrary<Asked>;
}

it.each(OPERATIONS)(
  'any value in any field is answered as docs/openapi.json describes: $id',
  async (operation) => {
    const things = { ...(await makeThings(api)), reference };
    await fuzz(operation.id, RUNS, requestOf(operation, things), async (asked) => {
      const answer = await api.ask(operation, asked);
      expectDescribed(operation, answer);
      expect(answer.status).toBeLessThan(500);
      // With these, shorter passwords and names with pictures are accepted than the document states.
      const { allow_weak, force } = Object(asked.body);
      if (allow_weak !== true && force !== true && !isAllowed(operation, asked))
        expect(answer.status).toBeGreaterThanOrEqual(400);
    });
  },
  FUZZ_TIMEOUT_MS,
);
