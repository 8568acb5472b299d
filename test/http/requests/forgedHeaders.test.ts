import { beforeAll, describe, expect, it } from 'vitest';
import { converse, linesOf, type RawAnswer } from '../../support/http/rawHttp.ts';
import { spoiled, writeRequest } from '../../support/http/rawRequest.ts';
import { prepareSamples, ROUTES, type Route } from '../../support/http/samples.ts';
import { forgetTries } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';

// Callers say who they are, where they are, which way they came, and which request they mean. None of that is believed.

type Values = Readonly<Record<string, string>>;

/** Headers that say the same, their names separated by spaces. */
const all = (names: string, value: string): Values =>
  Object.fromEntries(names.split(' ').map((name) => [name, value]));

const FORGED: Record<string, Values> = {
  'a forged host': {
    ...all('host x-forwarded-host x-forwarded-server x-host x-original-host', 'evil.example'),
    'x-forwarded-port': '1',
    'x-forwarded-prefix': '/evil',
    forwarded: 'for=203.0.113.9;host=evil.example;proto=https;by=evil.example',
  },
  'a forged scheme': {
    ...all('x-forwarded-proto x-forwarded-protocol x-forwarded-scheme x-url-scheme', 'https'),
    ...all('x-forwarded-ssl front-end-https', 'on'),
  },
  'a forged client address': {
    ...all(
      'x-real-ip x-client-ip x-cluster-client-ip x-remote-ip x-remote-addr x-originating-ip',
      '203.0.113.8',
    ),
    ...all('client-ip true-client-ip cf-connecting-ip fastly-client-ip', '203.0.113.8'),
    'x-forwarded-for': '203.0.113.7',
    via: '1.1 evil.example',
  },
  'a forged URL or method': {
    'x-original-url': '/oauth/account?older=x',
    ...all('x-rewrite-url x-forwarded-uri x-forwarded-path', '/health/live'),
    ...all('x-http-method-override x-http-method x-method-override', 'DELETE'),
    ...all('x-forwarded-method x-original-method', 'DELETE'),
  },
  'a forged request id': {
    ...all('x-request-id request-id x-correlation-id x-trace-id', 'forged-reference'),
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
  'a forged user': {
    ...all('x-remote-user x-forwarded-user x-auth-request-user x-user x-api-key', 'admin'),
    'x-forwarded-email': 'admin@localhost',
  },
};

const REPEATABLE: readonly Route[] = ['POST /oauth/authorize', 'POST /oauth/sign-in', 'POST /oauth/consent'];

describe.each<[how: string, trustProxy: false | number | string[]]>([
  ['without TRUST_PROXY', false],
  ['with TRUST_PROXY as a number', 1],
  ['with TRUST_PROXY as networks', ['127.0.0.0/8', '::1/128']],
])('%s', async (_how, trustProxy) => {
  // A code that expired meanwhile would change the account page.
  const server = await useServer({ codeLifetimeSeconds: 3600, trustProxy });
  const samples = await prepareSamples(server);
  const honest = new Map<Route, unknown>();

  /** Everything that a request leads to, without what is new each time, and the address behind a proxy: see forwarded.test.ts. */
  async function seen(route: Route, forged: Values) {
    const logged = server.logLines.length;
    const sample = samples[route];
    const { text } = writeRequest(route, REPEATABLE.includes(route) ? sample : spoiled(sample));
    const { answers } = await converse(server.baseUrl, withHeaders(text, forged));
    const ofRequest = server.logLines
      .slice(logged)
      .filter((line) => !line.includes('X-Forwarded-For is ignored'));
    const lines = ofRequest.map((line) => {
      const { time: _t, ms: _m, ref: _r, address, ...rest } = JSON.parse(line) as Record<string, unknown>;
      const isOwn = /^(127\.0\.0\.1|::1)$/.test(String(address));
      return trustProxy === false ? { ...rest, isOwn } : rest;
    });
    return { answers: answers.map((answer) => lasting(answer, route)), lines };
  }

  beforeAll(async () => {
    // Twice, because the first round stores a language with the user.
    for (const route of [...ROUTES, ...ROUTES]) honest.set(route, await seen(route, {}));
    await forgetTries(server.database);
  });

  it.each(Object.entries(FORGED))('%s changes no answer or log [forgedHeaders-1]', async (_what, forged) => {
    await forgetTries(server.database);
    for (const route of ROUTES) expect(await seen(route, forged), route).toEqual(honest.get(route));
  });
});

function withHeaders(text: string, headers: Values): string {
  const kept = 'host' in headers ? text.replace(/host: .*\r\n/, '') : text;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return kept.replace('\r\n', `\r\n${lines.join('')}`);
}

/** An answer without its time, its reference, and the secrets and signatures that are new each time. */
function lasting({ status, headers, body }: RawAnswer, route: Route) {
  const kept = linesOf(headers).filter(
    ([name]) => !['date', 'x-request-id', 'content-length'].includes(name),
  );
  const fresh = /[0-9a-f]{10}(?=<\/code>)|(?<=[="])[\w-]{35,}/g;
  // Later browsers warn of each earlier sign-in.
  const warnings = /<section class="warnings".*?<\/section>/s;
  const lines = kept.map((line) => line.join(': ').replaceAll(fresh, '…'));
  return {
    status,
    lines,
    body: route === 'GET /metrics' ? '' : body.replace(warnings, '').replaceAll(fresh, '…'),
  };
}
