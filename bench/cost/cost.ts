import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { requestsWith } from '../../test/attacks/places.ts';
import type { RawRequest } from '../../test/support/http/rawRequest.ts';
import { isSlow, prepareSamples } from '../../test/support/http/samples.ts';
import { forgetTries } from '../../test/support/postgres/rows.ts';
import { useServer } from '../../test/support/server.ts';

// A measurement for a quiet machine: `npm run cost`. An attacker sends texts that are short on the wire and slow to read,
// while all else waits: there is one thread. The measure is the thread's busy time, the least of some tries, and its excess
// over a short text: the rest of a request's time depends on the machine.

const MAX_MS = 5;
const TRIES = 40;
/** After so many tries the least is near the request's true cost. */
const ENOUGH_TRIES = 5;

const server = await useServer();

const [samples, others] = [await prepareSamples(server), await prepareSamples(server)];

/** Bytes allowed for a text of 31 KB. */
const BYTES = 31_000;
/** Accepted numbers of characters. */
const MOST = { body: 3_500, head: 30_000 };
const times = (text: string, bytes = BYTES) => text.repeat(Math.floor(bytes / Buffer.byteLength(text)));

const TEXTS: Record<string, string> = {
  letters: times('a'),
  'combining marks in the wrong order': times('\u0344', BYTES / 2) + times('\u0316', BYTES / 2),
  'letters that NFKC makes eighteen of': times('\uFDFA'),
  'characters that show nothing': times('\u200B'),
  'joiners and signs': times('\u{1F468}\u200D'),
  'capitals that get longer': times('\u0130'),
  'white space': times('\u3000'),
  spaces: times(' '),
  'percent signs': times('%'),
  'open quotations': `payment.to-pattern("${times('a')}`,
  'marks in a quotation': `payment.to-pattern("${times('\u0344', BYTES / 2)}${times('\u0316', BYTES / 2)}")`,
  'escapes in a quotation': `payment.to-pattern("${times('\\"')}")`,
  'many strings': `money-source("a"${times(',"a"')})`,
  'many rights': times('account-info '),
  'many targets': times('payment.to-pattern("a") '),
  digits: `payment-shop.limit(${times('9')},1)`,
  'an address': `http://127.0.0.1:9/callback?${times('a=b&')}`,
  'an address of dots': `http://127.0.0.1:9/callback${times('/..')}`,
  base64: times('QUFB'),
  'names and values': times('a=b&'),
  'names without values': times('a&'),
};

/** Sends one request as bytes. @returns milliseconds of this thread's work, which is the server's, too */
function busyWith({ text }: RawRequest): Promise<number> {
  const { hostname, port } = new URL(server.baseUrl);
  return new Promise((resolve) => {
    let status = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      const before = busyMs();
      socket.on('data', (chunk: Buffer) => {
        status ||= chunk.toString('latin1', 9, 12);
      });
      socket.on('close', () => {
        // An oversized body is not read to its end, which may cut the connection before the response.
        expect(status).toMatch(/^([234]..|503|)$/);
        resolve(busyMs() - before);
      });
      socket.write(text, 'latin1');
    });
    socket.on('error', () => socket.destroy());
  });
}

/**
 * This thread's working time: on Linux its CPU time, to which other processes don't add; elsewhere the time that its event
 * loop was busy.
 */
function busyMs(): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'utf8').split(
      ' ',
    );
    return Number(nanoseconds) / 1e6;
  } catch {
    return performance.eventLoopUtilization().active;
  }
}

/** True if a request keeps the thread for less than {@link MAX_MS}, or by so much more than another one. */
async function isCheap(request: RawRequest, short: RawRequest): Promise<boolean> {
  let [least, ofShort] = [Infinity, Infinity];
  for (let tries = 1; tries <= TRIES; tries += 1) {
    least = Math.min(least, await busyWith(request));
    if (least < MAX_MS) return true;
    ofShort = Math.min(ofShort, await busyWith(short));
    if (tries >= ENOUGH_TRIES && least - ofShort < MAX_MS) return true;
    await forgetTries(server.database);
  }
  return false;
}

it.each(Object.entries(TEXTS))(
  'A text keeps everybody else for less than 5 ms more than a short one, wherever it stands: %s',
  async (_what, text) => {
    const expensive = [];
    const shorts = requestsWith(others, 'x');
    for (const { route, place, request } of requestsWith(samples, text, '10.0.0.1', MOST)) {
      const short = shorts.next().value;
      expect(short).toMatchObject({ route, place });
      if (!(await isCheap(request, short.request))) expensive.push(`${route} ${place}`);
      if (isSlow(route)) await forgetTries(server.database);
    }
    expect(expensive).toEqual([]);
  },
);
