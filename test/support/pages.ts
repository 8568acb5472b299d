import * as cheerio from 'cheerio';
import { expect } from 'vitest';
import type { Answer } from './http/agent.ts';

/** Expects the page of 7.1: the code as text, no other one, and no way back to the application. */
export function expectErrorPage(answer: Answer, error: string): void {
  const codes = answer.text.match(/invalid_\w+|unauthorized_client|access_denied/g) ?? [];
  expect({ status: answer.status, page: answer.page, codes, location: answer.location }).toEqual({
    status: 400,
    page: 'error',
    codes: [error],
    location: null,
  });
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
}

export function factsOf({ body }: Answer): Record<string, string> {
  const $ = cheerio.load(body);
  const facts = $('dt').toArray();
  const textOf = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  return Object.fromEntries(facts.map((term) => [textOf($(term).text()), textOf($(term).next('dd').text())]));
}
