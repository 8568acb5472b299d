import { afterAll, expect, it } from 'vitest';
import { sendRequest } from '../support/http/rawRequest.ts';
import { isSlow, prepareSamples } from '../support/http/samples.ts';
import { forgetTries, rowsOf } from '../support/postgres/rows.ts';
import { onDatabase, spawnServer } from '../support/process/process.ts';
import { useServer } from '../support/server.ts';
import { contentOf, expectSound } from '../support/sound.ts';
import { requestsWith, type TextSent } from './places.ts';

// An attacker sends text that a careless reader fails at, runs, or reads for ever: a parser, a template engine, the
// database, a browser, JavaScript itself.

const registry = await useServer();
const samples = await prepareSamples(registry);
// A process of its own: one that reads for ever can be stopped only from outside.
const reader = await spawnServer({ ...onDatabase(registry.database.url), TRUST_PROXY: '1' });
const server = { ...registry, baseUrl: reader.baseUrl };

afterAll(async () => {
  await reader.stop('SIGKILL');
});

/** So long that a regular expression with two ways to read one text would take years. */
const LONG = 1500;
const MARKUP = `"'></bdi></title><script>alert(1)</script><img src=x onerror=alert(1)><!--`;
/** 15 digits: a reference, which is random, has only 10. */
const RESULT = String(7 ** 17);
const EXPRESSIONS = '<%= 7**17 %><%~ 7**17 %>@(7**17)#{7**17}{{7**17}}*{7**17}%{7**17}@{7**17}';

const TEXTS: [what: string, text: string][] = [
  ['letters in an open quotation', `payment.to-pattern("${'a'.repeat(2 * LONG)}`],
  ['escapes in an open quotation', `payment.to-pattern("${'\\\\'.repeat(LONG)}`],
  ['quotes and commas', `payment.to-account(${'"a", '.repeat(LONG / 2)}`],
  ['spaces', `account-info${' '.repeat(2 * LONG)}x`],
  ['digits', `payment-shop.limit(${'9'.repeat(2 * LONG)},${'0'.repeat(LONG)}`],
  ['parentheses', `payment.to-pattern${'('.repeat(2 * LONG)}`],
  ['an address of many colons', `https://[${':'.repeat(2 * LONG)}]/`],
  ['an address of many labels', `https://${'a.'.repeat(LONG)}!`],
  ['an address of many user names', `https://${'a@'.repeat(LONG)}shop.example`],
  ['an address of many slashes', `https://shop.example${'/..'.repeat(LONG / 2)}`],
  ['an address of many parameters', `http://127.0.0.1:9/callback?${'a[=;&'.repeat(LONG / 3)}#`],
  ['an address of many escapes', `http://127.0.0.1:9/callback?${'%41'.repeat(LONG)}=%`],
  ['20 thousand letters', 'A'.repeat(20_000)],
  ['200 thousand letters', 'A'.repeat(200_000)],
  ['SQL that is true', `' or '1'='1`],
  ['SQL that deletes', `'; drop table grants; --`],
  ['SQL behind a backslash', `\\' or 1=1 --`],
  ['a parameter of SQL', '$1'],
  ['a wildcard', '%'],
  ['a filter', '*)(uid=*))(|(uid=*'],
  ['markup', MARKUP],
  ['expressions', `${EXPRESSIONS}\${7**17}`],
  ['a prototype', '__proto__'],
  ['a property of a prototype', '__proto__[status]'],
  ['a constructor', 'constructor'],
  ['a method', 'hasOwnProperty'],
  ['nothing', ''],
  ['a scheme alone', 'Basic'],
  ['a scheme without a token', 'Bearer '],
  ['a scheme with padding alone', 'Basic ='],
  ['a scheme with an empty name', 'Basic Og=='],
  ['a scheme with two tokens', 'Bearer a b'],
];

/** Sends it and expects an answer of ours, which gives nothing, runs nothing and, when it refuses, repeats nothing. */
async function expectHarmless({ route, place, isForSecret, request }: TextSent): Promise<void> {
  const { reader, gives } = samples[route];
  if (isSlow(route)) await forgetTries(server.database);
  for (const answer of await sendRequest(server.baseUrl, request)) {
    expectSound(server, answer, place === 'path' ? 'anybody' : reader);
    expect(answer.status).not.toBe(429);
    expect(contentOf(answer)).not.toContain(RESULT);
    if (isForSecret && gives) expect(contentOf(answer)).not.toMatch(gives);
    if (reader === 'program' || [400, 404].includes(answer.status))
      expect(answer.body).not.toContain('alert(1)');
  }
}

it.each(TEXTS)('A malicious text has no effect anywhere in any request: %s', async (what, text) => {
  const rows = await rowsOf(server.database);
  const address = `10.0.0.${TEXTS.findIndex(([name]) => name === what) + 1}`; // an address that fails too often is refused unread
  for (const sent of requestsWith(samples, text, address)) await expectHarmless(sent);
  expect(await rowsOf(server.database)).toBe(rows);
});
