import { expect } from 'vitest';
import { converse, linesOf, type RawAnswer } from './http/rawHttp.ts';
import { writeRequest } from './http/rawRequest.ts';
import type { Sample } from './http/samples.ts';
import type { TestServer } from './server.ts';

/** `anybody` for an address that is not one of ours. */
type Reader = Sample['reader'] | 'anybody';

/** Expects the properties of every answer: it is ours and complete, reveals nothing, and leads to no other site. */
export function expectSound(server: TestServer, answer: RawAnswer, reader: Reader): void {
  const { status, headers, body } = answer;
  expect(status).toBeLessThan(500);
  expect(status, 'the server waited for more').not.toBe(408);
  expect(headers.has('x-injected'), 'a header came out of the request').toBe(false);
  for (const location of headers.get('location') ?? []) {
    expect(location.startsWith(`${server.baseUrl}/`), location).toBe(true);
  }
  for (const cookie of headers.get('set-cookie') ?? []) {
    expect(cookie).toMatch(
      /^assent_\w+=[\w-]*;( (Max-Age=\d+|Path=\/|HttpOnly|SameSite=Lax|Expires=[^;]+);?)+$/,
    );
  }
  expect(body).not.toMatch(/\b(FST|HPE|ERR)_[A-Z]{3}|node_modules|\.[jt]s:\d|\n {4}at /);
  const type = headers.get('content-type')?.join();
  if (body === '') expectEmpty(answer);
  else if (type === 'text/html; charset=utf-8') expectPage(answer, reader);
  else expectDocument(answer, reader, type);
}

/** Redirects, Node's own answers, and missing pictures. */
function expectEmpty({ status, headers }: RawAnswer): void {
  expect(headers.has('location')).toBe([302, 303, 307].includes(status));
  expect([302, 303, 307, 400, 404, 417]).toContain(status);
}

function expectPage({ headers, body }: RawAnswer, reader: Reader): void {
  expect(headers.get('content-security-policy')?.join()).toMatch(/^default-src 'none'; /);
  expect(headers.get('cache-control')).toEqual(['no-store']);
  expect(body).toMatch(/^<!doctype html>\n.*<\/html>\n?$/s);
  expect(body).not.toMatch(
    /<style|<script(?! type="module" src="\/oauth\/form-[0-9a-f]{32}\.js"><)|<img|<h1>injected/i,
  );
  // Bytes that are not HTTP have no route, so their answer is a page.
  if (reader === 'program') expect(body).toMatch(/This request can’t be read|Не удалось прочитать запрос/);
}

function expectDocument({ status, body }: RawAnswer, reader: Reader, type: string | undefined): void {
  expect(reader).not.toBe('person');
  if (type?.startsWith('text/plain; version=')) return; // what Prometheus reads at /metrics
  expect(type).toBe('application/json');
  const document = JSON.parse(body) as Record<string, unknown>;
  if (status < 400) expect(document).not.toHaveProperty('error');
  else
    expect(document).toMatchObject({
      error: expect.stringMatching(/./),
      error_description: expect.stringMatching(/^\w.*\.$/s),
    });
}

export async function expectDone(server: TestServer, route: string, sample: Sample): Promise<void> {
  const { answers } = await converse(server.baseUrl, writeRequest(route, sample).text);
  expect(answers.map(({ status }) => status)).toEqual([sample.status]);
  if (sample.gives) expect(answers.map(contentOf).join('\n')).toMatch(sample.gives);
}

export function contentOf({ headers, body }: RawAnswer): string {
  return [...linesOf(headers).map((line) => line.join(': ')), body].join('\n');
}

/** The level of pino for an error; a warning says only that a caller left before its answer. */
const ERROR = 50;

export function faultsOf({ logLines }: Pick<TestServer, 'logLines'>): string[] {
  return logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= ERROR);
}
