import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Parameters } from '../../../src/rules/request/parameters.ts';
import { files, find } from '../../docs/checkout.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from '../../support/http/fuzz.ts';
import { converse, type RawAnswer } from '../../support/http/rawHttp.ts';
import {
  type Edit,
  FILLER,
  FUZZED_HEADERS,
  placesOf,
  sendRequest,
  spoiled,
  writeRequest,
} from '../../support/http/rawRequest.ts';
import { isSlow, prepareSamples, ROUTES, type Route } from '../../support/http/samples.ts';
import { bytes, type Splice, splice, spliced } from '../../support/http/splice.ts';
import { forgetTries, rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { expectDone, expectSound, faultsOf } from '../../support/sound.ts';

// A request to each route, right but for one secret, with anything put into one place: it is answered soundly and changes
// nothing. fuzzNeeds.test.ts changes right requests.

// Behind a proxy, whose `X-Forwarded-For` is read.
const server = await useServer({ codeLifetimeSeconds: 3600, trustProxy: 1 });

const samples = await prepareSamples(server);

/** Without those that check a password: they are slow on purpose, and read like the other forms. */
const FAST_ROUTES = ROUTES.filter((route) => !isSlow(route));
/** Texts that a database can't store, tried in every parameter and in the credentials of HTTP Basic. */
const NO_TEXT: readonly Splice[] = ['%00', '%FF', '%ED%A0%80'].map((insert) => ({ at: 1, drop: 0, insert }));

const LONG = { timeout: FUZZ_TIMEOUT_MS };

async function expectAnswered(route: Route, edits: readonly Edit[]): Promise<void> {
  const request = writeRequest(route, spoiled(samples[route]), edits);
  const reader = edits.some(({ place }) => place === 'path') ? 'anybody' : samples[route].reader;
  for (const answer of await sendRequest(server.baseUrl, request)) expectSound(server, answer, reader);
}

it.each(ROUTES)(
  'a request with any value in any part is answered, and changes nothing: %s',
  LONG,
  async (route) => {
    const rows = await rowsOf(server.database);
    for (const place of placesOf(samples[route])) {
      await forgetTries(server.database);
      const runs = isSlow(route) ? 1 : 3;
      const check = (change: Splice) => expectAnswered(route, [{ place, splice: change }]);
      const examples = /^field |^credentials$/.test(place) ? NO_TEXT : [];
      await fuzz(`${place} of ${route}`, runs, splice, check, examples);
      expect(await rowsOf(server.database), place).toBe(rows);
    }
    expect(faultsOf(server)).toEqual([]);
  },
);

describe('a connection', LONG, () => {
  it('with any bytes is answered or closed, and changes nothing', async () => {
    const rows = await rowsOf(server.database);
    await fuzz('a connection', 150, fc.array(bytes, { maxLength: 8 }), async (pieces) => {
      const { answers } = await converse(server.baseUrl, pieces.join('') + FILLER, { answers: 1 });
      for (const answer of answers) expectSound(server, answer, 'anybody');
    });
    const changes = fc.array(splice, { minLength: 1, maxLength: 3 });
    const requests = fc.tuple(fc.constantFrom(...FAST_ROUTES), changes);
    await fuzz('the bytes of a request', 600, requests, async ([route, changed]) => {
      const text = changed.reduce(spliced, writeRequest(route, spoiled(samples[route])).text);
      const { answers } = await converse(server.baseUrl, text + FILLER, { answers: 1 });
      for (const answer of answers) expectSound(server, answer, 'anybody');
    });
    expect(await rowsOf(server.database)).toBe(rows);
    expect(faultsOf(server)).toEqual([]);
    await expectDone(server, 'POST /oauth/consent', samples['POST /oauth/consent']);
  });

  it('with several requests answers each as if alone, however they are split into packets and chunks', async () => {
    const alone = new Map<string, string>();
    for (const route of FAST_ROUTES) {
      for (const asked of route.startsWith('GET ') ? [route, headOf(route)] : [route]) {
        const methods = [verbOf(asked)];
        const { answers } = await converse(server.baseUrl, requestTo(route, asked), { methods });
        alone.set(asked, gist(answers)[0] ?? '');
      }
    }
    await fuzz('a connection with several requests', 120, conversation, async ({ asked, cuts, chunks }) => {
      const requests = asked.map(({ route, head }) => (head ? headOf(route) : route));
      const texts = asked.map(({ route }, index) =>
        requestTo(route, requests[index] ?? '', index === asked.length - 1 ? 'close' : 'keep-alive'),
      );
      const pieces = cut(texts.map((text) => inChunks(text, chunks)).join(''), cuts);
      const { answers } = await converse(server.baseUrl, pieces, { methods: requests.map(verbOf) });
      expect(gist(answers)).toEqual(requests.map((request) => alone.get(request)));
    });
    expect(faultsOf(server)).toEqual([]);
  });
});

describe('the fuzzed input', () => {
  it('covers every route', () => {
    // The style and the script have a hash in their path, and read nothing of a request but that.
    const routes = server.routes.filter((route) => !/^HEAD |^GET \/oauth\/(form|style)-/.test(route));
    expect(routes).toEqual(ROUTES.toSorted());
  });

  it('covers every parameter that is read from a valid request, each with a valid value', async () => {
    await forgetTries(server.database);
    const reads = (['get', 'find'] as const).map((method) => vi.spyOn(Parameters.prototype, method));
    for (const route of ROUTES) await expectDone(server, route, samples[route]);
    const read = new Set(reads.flatMap(({ mock }) => mock.calls.map(([name]) => name)));
    for (const spy of reads) spy.mockRestore();
    const fuzzed = new Set(Object.values(samples).flatMap(({ fields }) => Object.keys(fields)));
    expect([...read].toSorted()).toEqual([...fuzzed].toSorted());
  });

  it('covers every header that is read', () => {
    const sources = files.filter((file) => /^src\/http\/.+\.ts$/.test(file));
    const named = sources.flatMap((file) => find(file, /headers(?:\.|\[')(\w[\w-]*)/g));
    expect(named).not.toHaveLength(0);
    for (const name of named) expect(FUZZED_HEADERS).toContain(name);
  });
});

const oneRequest = fc.record({ route: fc.constantFrom(...FAST_ROUTES), head: fc.boolean() });
const conversation = fc.record({
  asked: fc.array(oneRequest, { minLength: 1, maxLength: 5 }),
  /** Where a packet ends, in the text of all requests. */
  cuts: fc.array(fc.nat(4_000), { maxLength: 8 }),
  /** Sizes of chunks, over and over; none for a `Content-Length`. */
  chunks: fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 300 }), line: fc.constantFrom(';a=b', ';a="x y"', '') }),
  ),
});

const headOf = (route: Route) => route.replace(/^GET /, 'HEAD ');

const verbOf = (route: string) => route.split(' ', 1)[0] ?? '';

function requestTo(route: Route, asked: string, connection = 'close'): string {
  const sample = spoiled(samples[route]);
  return writeRequest(asked, { ...sample, headers: { ...sample.headers, connection } }).text;
}

function gist(answers: readonly RawAnswer[]): string[] {
  return answers.map(({ status, headers }) => {
    const [type, location] = [headers.get('content-type'), headers.get('location')];
    // A deep run exceeds the failures that one address may cause in a minute.
    return `${status === 429 ? 400 : status} ${type} ${location}`;
  });
}

function cut(text: string, cuts: readonly number[]): string[] {
  const places = cuts.map((place) => place % text.length).toSorted((a, b) => a - b);
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length));
}

function inChunks(text: string, chunks: readonly { size: number; line: string }[]): string {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  if (chunks.length === 0 || body === '') return text;
  let rest = body;
  let sent = '';
  for (let index = 0; rest !== ''; index += 1) {
    const { size = 1, line = '' } = chunks[index % chunks.length] ?? {};
    const chunk = rest.slice(0, size);
    sent += `${chunk.length.toString(16)}${line}\r\n${chunk}\r\n`;
    rest = rest.slice(size);
  }
  return `${head.replace(/content-length: \d+/, 'transfer-encoding: chunked')}\r\n\r\n${sent}0\r\n\r\n`;
}
