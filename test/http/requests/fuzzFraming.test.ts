import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FUZZ_TIMEOUT_MS, fuzz } from '../../support/http/fuzz.ts';
import { converse, type RawAnswer } from '../../support/http/rawHttp.ts';
import { FILLER, spoiled, writeRequest } from '../../support/http/rawRequest.ts';
import { isSlow, prepareSamples, ROUTES, type Route } from '../../support/http/samples.ts';
import { bytes, splice, spliced } from '../../support/http/splice.ts';
import { rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { expectDone, expectSound, faultsOf } from '../../support/sound.ts';

// Bytes below the level of headers and parameters: where a request begins and ends, and what comes in which packet.

const server = await useServer();

const samples = await prepareSamples(server);

/** Those that look at a password are read like the other forms. */
const FAST_ROUTES = ROUTES.filter((route) => !isSlow(route));

describe('a connection', { timeout: FUZZ_TIMEOUT_MS }, () => {
  it('with any bytes is answered or closed, and changes nothing', async () => {
    const rows = await rowsOf(server.database);
    await fuzz('a connection', 150, fc.array(bytes, { maxLength: 8 }), async (pieces) => {
      const { answers } = await converse(server.baseUrl, pieces.join('') + FILLER, { answers: 1 });
      for (const answer of answers) expectSound(server, answer, 'anybody');
    });
    await fuzz(
      'the bytes of a request',
      600,
      fc.tuple(fc.constantFrom(...FAST_ROUTES), fc.array(splice, { minLength: 1, maxLength: 3 })),
      async ([route, changes]) => {
        const { text } = writeRequest(route, spoiled(samples[route]));
        const changed = changes.reduce(spliced, text);
        const { answers } = await converse(server.baseUrl, changed + FILLER, { answers: 1 });
        for (const answer of answers) expectSound(server, answer, 'anybody');
      },
    );
    expect(await rowsOf(server.database)).toBe(rows);
    expect(faultsOf(server)).toEqual([]);
    await expectDone(server, 'POST /consent', samples['POST /consent']);
  });

  it('with several requests answers each as if alone, however they are split into packets and chunks', async () => {
    const alone = new Map<string, string>();
    for (const route of FAST_ROUTES) {
      for (const asked of route.startsWith('GET ') ? [route, headOf(route)] : [route]) {
        const { answers } = await converse(server.baseUrl, requestTo(route, asked), {
          methods: [verbOf(asked)],
        });
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

const conversation = fc.record({
  asked: fc.array(fc.record({ route: fc.constantFrom(...FAST_ROUTES), head: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
  }),
  /** Where a packet ends, in the text of all requests. */
  cuts: fc.array(fc.nat(4_000), { maxLength: 8 }),
  /** Sizes of chunks, over and over; none for a `Content-Length`. */
  chunks: fc.array(
    fc.record({ size: fc.integer({ min: 1, max: 300 }), line: fc.constantFrom(';a=b', ';a="x y"', '') }),
  ),
});

/** `HEAD` where `GET` is answered; other routes are posted to. */
function headOf(route: Route): string {
  return route.replace(/^GET /, 'HEAD ');
}

function verbOf(route: string): string {
  return route.split(' ', 1)[0] ?? '';
}

function requestTo(route: Route, asked: string, connection = 'close'): string {
  const sample = spoiled(samples[route]);
  return writeRequest(asked, { ...sample, headers: { ...sample.headers, connection } }).text;
}

/** What of an answer is the same each time. */
function gist(answers: readonly RawAnswer[]): string[] {
  return answers.map(({ status, headers }) => {
    const [type, location] = [headers.get('content-type'), headers.get('location')];
    // A deep run fails more often than anybody may within a minute.
    return `${status === 429 ? 400 : status} ${type} ${location}`;
  });
}

function cut(text: string, cuts: readonly number[]): string[] {
  const places = cuts.map((place) => place % text.length).toSorted((a, b) => a - b);
  return [0, ...places].map((place, index) => text.slice(place, places[index] ?? text.length));
}

/** The same request with its body in chunks. */
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
