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
  ['an unclosed quotation of 3,000 letters', `payment.to-pattern("${'a'.repeat(2 * LONG)}`],
  ['an unclosed quotation of 1,500 escapes', `payment.to-pattern("${'\\\\'.repeat(LONG)}`],
  ['an unclosed list of 750 quoted arguments', `payment.to-account(${'"a", '.repeat(LONG / 2)}`],
  ['3,000 spaces before a letter', `account-info${' '.repeat(2 * LONG)}x`],
  ['numbers of thousands of digits', `payment-shop.limit(${'9'.repeat(2 * LONG)},${'0'.repeat(LONG)}`],
  ['3,000 opening parentheses', `payment.to-pattern${'('.repeat(2 * LONG)}`],
  ['a URL with 3,000 colons in the host', `https://[${':'.repeat(2 * LONG)}]/`],
  ['a URL with 1,500 labels in the host', `https://${'a.'.repeat(LONG)}!`],
  ['a URL with 1,500 user names', `https://${'a@'.repeat(LONG)}shop.example`],
  ['a URL with 750 dot segments', `https://shop.example${'/..'.repeat(LONG / 2)}`],
  ['a URL with 500 malformed parameters', `http://127.0.0.1:9/callback?${'a[=;&'.repeat(LONG / 3)}#`],
  ['a URL with 1,500 percent-escapes', `http://127.0.0.1:9/callback?${'%41'.repeat(LONG)}=%`],
  ['20,000 letters', 'A'.repeat(20_000)],
  ['200,000 letters', 'A'.repeat(200_000)],
  ['an SQL condition that is always true', `' or '1'='1`],
  ['an SQL statement that drops a table', `'; drop table grants; --`],
  ['SQL after a backslash and a quote', `\\' or 1=1 --`],
  ['an SQL placeholder', '$1'],
  ['an SQL wildcard', '%'],
  ['an LDAP filter', '*)(uid=*))(|(uid=*'],
  ['HTML with scripts', MARKUP],
  ['template expressions', `${EXPRESSIONS}\${7**17}`],
  ['the property name __proto__', '__proto__'],
  ['a parameter name with __proto__', '__proto__[status]'],
  ['the property name constructor', 'constructor'],
  ['the property name hasOwnProperty', 'hasOwnProperty'],
  ['an empty string', ''],
  ['the Basic scheme without credentials', 'Basic'],
  ['the Bearer scheme without a token', 'Bearer '],
  ['Basic credentials of padding alone', 'Basic ='],
  ['Basic credentials with an empty client_id', 'Basic Og=='],
  ['the Bearer scheme with two tokens', 'Bearer a b'],
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

it.each(TEXTS)('A malicious text has no effect in any request: %s [texts-1]', async (what, text) => {
  const rows = await rowsOf(server.database);
  const address = `10.0.0.${TEXTS.findIndex(([name]) => name === what) + 1}`; // an address that fails too often is refused unread
  for (const sent of requestsWith(samples, text, address)) await expectHarmless(sent);
  expect(await rowsOf(server.database)).toBe(rows);
});
