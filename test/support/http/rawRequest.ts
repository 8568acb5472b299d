import { converse, type RawAnswer } from './rawHttp.ts';
import type { Sample } from './samples.ts';
import { type Splice, spliced } from './splice.ts';

export interface Edit {
  readonly place: string;
  readonly splice: Splice;
}

/** Every header that the server or Node reads, each with a valid value. */
const HEADERS: Readonly<Record<string, string>> = {
  host: 'localhost',
  cookie: 'assent_session=x; assent_visit=x',
  authorization: 'Basic eDp5',
  'content-type': 'application/x-www-form-urlencoded',
  'content-length': '10',
  'content-encoding': 'gzip',
  'transfer-encoding': 'chunked',
  upgrade: 'h2c',
  expect: '100-continue',
  connection: 'close',
  origin: 'http://localhost',
  referer: 'http://localhost/oauth/account',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'accept-language': 'ru-RU, en;q=0.5',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  forwarded: 'for=10.0.0.1;host=localhost;proto=https',
  'x-forwarded-for': '10.0.0.1',
  'x-forwarded-host': 'localhost',
  'x-forwarded-proto': 'https',
  unknown: 'x',
};

export const FUZZED_HEADERS = Object.keys(HEADERS);

const CREDENTIALS = 'credentials';

export function placesOf({ fields }: Sample): string[] {
  const names = [...Object.keys(fields), 'unknown'];
  return [
    ...['method', 'path', 'query', 'body'],
    ...names.map((name) => `field ${name}`),
    ...FUZZED_HEADERS.map((name) => `header ${name}`),
    CREDENTIALS,
  ];
}

export type RawRequest = ReturnType<typeof writeRequest>;

/** Writes a request with some places changed. Its length is right unless that is changed. */
export function writeRequest(route: string, sample: Sample, edits: readonly Edit[] = []) {
  const edit = (place: string, value: string) =>
    edits.filter((one) => one.place === place).reduce((text, one) => spliced(text, one.splice), value);
  const [method = '', path = ''] = route.split(' ');
  const fields = Object.entries({ ...sample.fields, unknown: '' })
    .map(([name, value]) => [name, edit(`field ${name}`, encodeURIComponent(value))] as const)
    .filter(([name, value]) => name !== 'unknown' || value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const body = edit('body', method === 'POST' ? fields : '');
  const query = edit('query', method === 'POST' ? '' : fields);
  const target = edit('path', path) + (query === '' ? '' : `?${query}`);
  const touched = (name: string) => edits.some(({ place }) => place === `header ${name}`);
  const chunked = touched('transfer-encoding');
  const basic = edits.some(({ place }) => place === CREDENTIALS) ? edit(CREDENTIALS, 'x:y') : undefined;
  const given: Record<string, string> = {
    host: 'localhost',
    connection: 'close',
    ...(method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    ...(chunked || (body === '' && method !== 'POST') ? {} : { 'content-length': `${body.length}` }),
    ...sample.headers,
    ...(basic === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(basic, 'latin1').toString('base64')}` }),
  };
  const headers = FUZZED_HEADERS.filter((name) => name in given || touched(name)).map(
    (name) => [name, edit(`header ${name}`, given[name] ?? HEADERS[name] ?? '')] as const,
  );
  const verb = edit('method', method);
  const head = `${verb} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const sent = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
  return {
    text: head + sent,
    /** Whether its end is clear and it has no bytes that HTTP forbids. */
    plain:
      verb === method &&
      head.length < MAX_HEAD &&
      /^\/[!-~]*$/.test(target) &&
      headers.every(([, value]) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) &&
      !FRAMING.some(touched),
  };
}

/** Less than what the server reads of headers and address together. */
const MAX_HEAD = 32_000;

/** Changes of these make it unclear where a request ends, or whether its answer is the last. */
const FRAMING = ['host', 'content-length', 'transfer-encoding', 'expect', 'connection'];

/** Longer than any announced body, and then not HTTP, so that no parser waits for more. */
export const FILLER = `\r\n\r\n${'x'.repeat(40_000)}\r\n\r\n`;

/** Sends a request. @returns its answer; none, or the first of several, only when it is not plain what was asked */
export async function sendRequest(baseUrl: string, { text, plain }: RawRequest): Promise<RawAnswer[]> {
  if (!plain) return [...(await converse(baseUrl, text + FILLER, { answers: 1 })).answers];
  const { answers } = await converse(baseUrl, text);
  if (answers.length !== 1) throw new Error(`${answers.length} answers to one request`);
  return [...answers];
}

/** Checked last of all: a request in which only one of these is wrong gets far. */
const LOOKED_AT_LAST = [
  ...['password', 'decision_token', 'form_token', 'payment_password', 'decision'],
  ...['code', 'token', 'header authorization'],
];

/** The sample with one need altered: it may not be carried out, whatever else is changed. */
export function spoiled(sample: Sample): Sample {
  const need = LOOKED_AT_LAST.find((name) => sample.needs.includes(name));
  return need === undefined ? sample : withNeed(sample, need, alter(needOf(sample, need)));
}

export function needOf({ fields, headers }: Sample, need: string): string {
  return (need.startsWith('header ') ? headers[need.slice(7)] : fields[need]) ?? '';
}

export function withNeed(sample: Sample, need: string, value: string): Sample {
  const { fields, headers } = sample;
  if (!need.startsWith('header ')) return { ...sample, fields: { ...fields, [need]: value } };
  return { ...sample, headers: { ...headers, [need.slice(7)]: value } };
}

function alter(value: string): string {
  const middle = value.length >> 1;
  return value.slice(0, middle) + (value[middle] === 'A' ? 'B' : 'A') + value.slice(middle + 1);
}
