import { connect, type Socket } from 'node:net';
import { noteAnswer } from '../traffic.ts';

// HTTP as bytes: requests that `fetch` would never send, and answers that are read strictly. Each byte is one character up to
// U+00FF.

export interface RawAnswer {
  readonly status: number;
  /** By name in small letters, each with all its values. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

export interface Manner {
  /** Leaves after so many answers; otherwise only the server ends the connection. */
  readonly answers?: number;
  /** The methods asked, in order, where `HEAD` is among them: its answer has no body whatever it says. */
  readonly methods?: readonly string[];
  /** Ends our half of the connection behind the last piece. */
  readonly hangUp?: boolean;
}

/** Against hanging only: long after the server has given up on whatever it waits for. */
const DEADLINE_MS = 28_000;

/**
 * Sends bytes on a connection of its own and reads the answers. @param pieces what is sent; several arrive one by one
 * @throws {Error} when what comes back is not HTTP, or does not come
 */
export function converse(
  baseUrl: string,
  pieces: string | readonly string[],
  manner: Manner = {},
): Promise<ReturnType<typeof readAnswers>> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const deadline = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end after ${DEADLINE_MS} ms, but ${JSON.stringify(received)}`));
    }, DEADLINE_MS);
    const finish = (ended: boolean) => {
      clearTimeout(deadline);
      socket.destroy();
      try {
        const conversation = readAnswers(received, manner.methods, ended);
        for (const { headers, body } of conversation.answers)
          noteAnswer({ headers: new Headers(linesOf(headers)) }, body);
        resolve(conversation);
      } catch (error) {
        reject(error);
      }
    };
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
      if (manner.answers === undefined) return;
      if (readAnswers(received, manner.methods, false).answers.length >= manner.answers) finish(false);
    });
    socket.on('end', () => finish(true));
    // A server that closes before it has read everything resets the connection; its answer has arrived.
    socket.on('error', () => finish(true));
    void send(socket, typeof pieces === 'string' ? [pieces] : pieces, manner.hangUp ?? false);
  });
}

async function send(socket: Socket, pieces: readonly string[], hangUp: boolean): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise((resolve) => socket.write(piece, 'latin1', resolve));
    // A turn of the loop that the server, in this very process, reads the piece in.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (hangUp) socket.end();
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]*$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t -~\x80-\xff]*)$/;

/** @param ended whether nothing more will come, so that half an answer is a fault */
function readAnswers(received: string, methods: readonly string[] = [], ended: boolean) {
  const answers: RawAnswer[] = [];
  const interim: number[] = [];
  for (let rest = received; rest !== ''; ) {
    const read = readAnswer(rest, methods[answers.length]);
    if (read === undefined) {
      if (ended) throw new Error(`half an answer: ${JSON.stringify(rest)}`);
      break;
    }
    if (read.answer.status < 200) interim.push(read.answer.status);
    else answers.push(read.answer);
    rest = read.rest;
  }
  return { answers, interim };
}

interface Read {
  readonly answer: RawAnswer;
  readonly rest: string;
}

function readAnswer(received: string, method: string | undefined): Read | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.slice(0, end).split('\r\n');
  const [, status = notHttp(first)] = STATUS_LINE.exec(first) ?? [];
  const head = { status: Number(status), headers: readHeaders(lines) };
  const rest = received.slice(end + 4);
  const bodiless = head.status < 200 || head.status === 204 || head.status === 304 || method === 'HEAD';
  return bodiless ? { answer: { ...head, body: '' }, rest } : readBody(head, rest);
}

function readHeaders(lines: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name = notHttp(line), value = ''] = HEADER_LINE.exec(line) ?? [];
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  return headers;
}

function readBody(head: Omit<RawAnswer, 'body'>, rest: string): Read | undefined {
  const lengths = head.headers.get('content-length') ?? [];
  const encodings = head.headers.get('transfer-encoding') ?? [];
  const body = (text: string): Read => ({
    answer: { ...head, body: Buffer.from(text, 'latin1').toString('utf8') },
    rest: rest.slice(text.length),
  });
  if (lengths.length === 1 && encodings.length === 0 && /^\d+$/.test(lengths[0] ?? '')) {
    const length = Number(lengths[0]);
    return rest.length < length ? undefined : body(rest.slice(0, length));
  }
  // Nothing is sent in chunks but the empty bodies of what Node answers by itself.
  if (lengths.length > 0 || encodings.join() !== 'chunked') return notHttp([...head.headers.keys()].join());
  if (!rest.startsWith('0\r\n\r\n')) return rest.length < 5 ? undefined : notHttp(rest);
  return { answer: { ...head, body: '' }, rest: rest.slice(5) };
}

export function linesOf(headers: RawAnswer['headers']): [string, string][] {
  return [...headers].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
}

function notHttp(found: string): never {
  throw new Error(`an answer is not HTTP: ${JSON.stringify(found)}`);
}
