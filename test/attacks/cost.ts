import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { Agent, type Form, formWith } from '../support/agent.ts';
import { requestOf, tokenRequestOf } from '../support/flow.ts';
import { forgetTries } from '../support/rows.ts';
import { type TestUser, useServer } from '../support/server.ts';
import { type Fields, open, signedIn } from './browsers.ts';

// A measurement for a quiet machine: `npm run cost`. An attacker sends texts that look short on the wire and take long to
// read, and everything else waits: there is one thread. Measured is the time in which that thread did nothing else, the
// least of some tries, and how much longer it is than for a short text: what else a request takes depends on the machine.

const MAX_MS = 5;
const TRIES = 40;
/** Tries after which the least is near what a request takes. */
const ENOUGH_TRIES = 5;

const server = await useServer();

const [user, another] = [await server.createUser(), await server.createUser()];
const shop = await server.createClient();
const resource = await server.createResource();

/** Bytes that a text of 31 KB may have. */
const BYTES = 31_000;
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
  'percent signs': times('%25'),
  'open quotations': `payment.to-pattern("${times('a')}`,
  'marks in a quotation': `payment.to-pattern("${times('\u0344', BYTES / 2)}${times('\u0316', BYTES / 2)}")`,
  'escapes in a quotation': `payment.to-pattern("${times('\\"')}")`,
  'many strings': `money-source("a"${times(',"a"')})`,
  'many rights': times('account-info '),
  'many targets': times('payment.to-pattern("a") '),
  digits: `payment-shop.limit(${times('9')},1)`,
  'an address': `http://127.0.0.1:9/callback?${times('a=b%26')}`,
  'an address of dots': `http://127.0.0.1:9/callback${times('/..')}`,
  base64: times('QUFB'),
  'names and values': times('a=b&'),
  'names without values': times('a&'),
};

/** Sends one request as bytes. @returns milliseconds in which this thread, which is the server's too, was busy */
function busyWith({ head, body = '' }: RawRequest): Promise<number> {
  const { hostname, port } = new URL(server.baseUrl);
  const lines = [...head, 'Host: x', 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'utf8');
  return new Promise((resolve) => {
    let status = '';
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      const before = busyMs();
      socket.on('data', (chunk: Buffer) => {
        status ||= chunk.toString('latin1', 9, 12);
      });
      socket.on('close', () => {
        // A body that is too long is not read to its end, which may cut the connection before the answer came.
        expect(status).toMatch(/^([234]..|503|)$/);
        resolve(busyMs() - before);
      });
      socket.write(bytes);
    });
    socket.on('error', () => socket.destroy());
  });
}

/**
 * How long this thread has worked: on Linux its time on a processor, which others at work on the machine don't add to;
 * elsewhere the time that its event loop was busy.
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

/** Whether a request keeps the thread for less than {@link MAX_MS}, or for so much more than another one. */
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

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const HEADERS = [
  'Authorization: Basic ',
  'Authorization: Bearer ',
  'Cookie: ',
  'Cookie: assent_session=',
  'Cookie: assent_device=',
  'Cookie: assent_visit=',
  'Origin: ',
  'X-Forwarded-For: ',
];

function encoded(fields: Fields, field: string, text: string): string {
  const others = Object.entries(fields).filter(([name]) => name !== field);
  return `${new URLSearchParams(others)}&${field}=${text.replaceAll(/[&+#]/g, encodeURIComponent)}`;
}

interface RawRequest {
  readonly what: string;
  readonly head: readonly string[];
  readonly body?: string;
}

/** A form as its browser would post it, with one field after the other replaced by the text. */
function* formsWith({ cookies }: Agent, { action, fields }: Form, more: readonly string[], text: string) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  for (const field of [...Object.keys(fields), ...more])
    yield {
      what: `${action} ${field}`,
      head: [`POST ${action} HTTP/1.1`, FORM, `Cookie: ${cookie}`],
      body: encoded(fields, field, text),
    };
}

/** Every place where a stranger or a user can put a text. */
async function* requestsWith(text: string, user: TestUser): AsyncGenerator<RawRequest> {
  const inQuery = (field: string) => encodeURI(encoded(requestOf(shop), field, text)).slice(0, 30_000);
  const inHeader = text.replaceAll(/[^\x20-\x7e]/g, 'x').slice(0, 30_000);
  for (const field of [
    ...Object.keys(requestOf(shop)),
    'state',
    'instance_name',
    'code_challenge',
    'other',
  ]) {
    yield { what: `GET ${field}`, head: [`GET /oauth/authorize?${inQuery(field)} HTTP/1.1`] };
    const body = encoded(requestOf(shop), field, text.slice(0, 3_500));
    yield { what: `POST ${field}`, head: ['POST /oauth/authorize HTTP/1.1', FORM], body };
  }
  for (const field of [...Object.keys(tokenRequestOf(shop, 'x')), 'code_verifier']) {
    const body = encoded(tokenRequestOf(shop, 'x'), field, text.slice(0, 3_500));
    yield { what: `token ${field}`, head: ['POST /oauth/token HTTP/1.1', FORM], body };
  }
  const asking = ['POST /oauth/introspect HTTP/1.1', FORM, `Authorization: ${resource}`];
  yield { what: 'introspect token', head: asking, body: encoded({}, 'token', text.slice(0, 3_500)) };
  for (const path of ['/api/revoke', '/oauth/revoke', '/sign-in', '/account/disconnect'])
    for (const header of HEADERS)
      yield {
        what: `${path} ${header}`,
        head: [`POST ${path} HTTP/1.1`, FORM, header + inHeader],
        body: 'token=x',
      };
  yield { what: 'path', head: [`GET /${encodeURI(text).slice(0, 30_000)} HTTP/1.1`] };

  const stranger = new Agent(server.baseUrl);
  const browser = await signedIn(server, shop, user);
  const account = await browser.get('/account');
  const signIn = formWith(await stranger.get('/account'), 'login');
  const consent = formWith(await open(browser, shop), 'decision');
  const payment = formWith(await open(browser, shop, { scope: 'payment-shop' }), 'payment_password');
  yield* formsWith(stranger, signIn, ['login', 'password', 'request'], text);
  yield* formsWith(browser, consent, ['decision'], text);
  yield* formsWith(browser, payment, ['payment_password'], text);
  for (const form of account.forms) yield* formsWith(browser, form, ['request'], text);
}

describe('a text that is long to read', () => {
  it.each(Object.entries(TEXTS))(
    'keeps everybody else for less than 5 ms more than a short one, wherever it stands: %s',
    async (_what, text) => {
      const expensive = [];
      const shorts = requestsWith('x', another);
      for await (const request of requestsWith(text, user)) {
        const { value: short } = await shorts.next();
        expect(short.what).toBe(request.what);
        if (!(await isCheap(request, short))) expensive.push(request.what);
        if (/password|login/.test(request.what)) await forgetTries(server.database);
      }
      expect(expensive).toEqual([]);
    },
  );
});
