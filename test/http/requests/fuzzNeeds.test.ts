import { fastifyCookie } from '@fastify/cookie';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AUTHORIZATION_PARAMETERS } from '../../../src/rules/request/authorizationRequest.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from '../../support/http/fuzz.ts';
import {
  needOf,
  type RawRequest,
  sendRequest,
  withNeed,
  writeRequest,
} from '../../support/http/rawRequest.ts';
import { prepareSamples, ROUTES, type Route } from '../../support/http/samples.ts';
import { splice, spliced } from '../../support/http/splice.ts';
import { forgetTries, rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { contentOf, expectDone, expectSound, faultsOf } from '../../support/sound.ts';

// Right requests with real cookies, tokens and secrets, one of which is changed in one place: none is carried out, and the
// untouched one still is.

const server = await useServer({ codeLifetimeSeconds: 3600 });

const samples = await prepareSamples(server);
const samplesOfAnother = await prepareSamples(server);

/** Fields that a form may lack or have with another value. */
const FREE = ['new_password', 'page'];
const needsOf = (route: Route) => samples[route].needs.filter((need) => !FREE.includes(need));

const GUARDED = ROUTES.filter((route) => needsOf(route).length > 0);
const OWN_FORMS = GUARDED.filter((route) => route.startsWith('POST ') && samples[route].reader === 'person');

/** Each holder of the value has the right, so another user's value works. */
const BEARERS_ONLY: readonly Route[] = ['GET /oauth/account', 'POST /oauth/introspect', 'POST /api/revoke'];

function expectNotDoneWith(route: Route, need: string, value: string): Promise<void> {
  return expectNotDone(route, writeRequest(route, withNeed(samples[route], need, value)));
}

async function expectNotDone(route: Route, request: RawRequest): Promise<void> {
  const { reader, gives } = samples[route];
  const rows = await rowsOf(server.database);
  await forgetTries(server.database);
  for (const answer of await sendRequest(server.baseUrl, request)) {
    expectSound(server, answer, reader);
    if (gives) expect(contentOf(answer)).not.toMatch(gives);
  }
  expect(await rowsOf(server.database)).toBe(rows);
}

describe('a request that is valid except for one value', { timeout: FUZZ_TIMEOUT_MS }, () => {
  it.each(GUARDED.filter((route) => !BEARERS_ONLY.includes(route)))(
    'with a value of another user is not carried out: %s [fuzzNeeds-1]',
    async (route) => {
      const [own, others] = [samples[route], samplesOfAnother[route]];
      const needs = needsOf(route).filter((need) => needOf(own, need) !== needOf(others, need));
      expect(needs).not.toHaveLength(0);
      for (const need of needs) await expectNotDoneWith(route, need, needOf(others, need));
    },
  );

  it.each(OWN_FORMS)('from another site is not carried out: %s [fuzzNeeds-2]', async (route) => {
    const elsewhere = { ...samples[route].headers, 'sec-fetch-site': 'cross-site' };
    await expectNotDone(route, writeRequest(route, { ...samples[route], headers: elsewhere }));
  });

  it.each(GUARDED.filter((route) => route.startsWith('POST ')))(
    'with a value sent twice is not carried out: %s',
    async (route) => {
      for (const need of needsOf(route).filter((name) => !name.startsWith('header '))) {
        const again = `${need}=${encodeURIComponent(needOf(samples[route], need))}&`;
        const edit = { place: 'body', splice: { at: 0, drop: 0, insert: again } };
        await expectNotDone(route, writeRequest(route, samples[route], [edit]));
      }
    },
  );

  it.each(GUARDED)('is carried out only once that value is corrected: %s', async (route) => {
    const right = samples[route];
    for (const need of needsOf(route)) {
      const value = needOf(right, need);
      const runs = /password|sign-in/.test(`${route} ${need}`) ? 4 : 10; // passwords are slow on purpose
      const check = async (changed: string) => {
        fc.pre(meaningOf(need, changed) !== meaningOf(need, value));
        await expectNotDoneWith(route, need, changed);
      };
      const examples = need === 'request' ? otherRequests(value) : [];
      await fuzz(`${need} for ${route}`, runs, changeOf(value), check, examples);
    }
    const rows = await rowsOf(server.database);
    await forgetTries(server.database);
    await expectDone(server, route, right);
    expect((await rowsOf(server.database)) === rows).toBe(READS_ONLY.test(route));
    expect(faultsOf(server)).toEqual([]);
  });
});

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The value with a change in one place, often one that leaves it well-formed. */
function changeOf(value: string): fc.Arbitrary<string> {
  const anything = splice.map((change) => spliced(value, change));
  const anotherLetter = fc
    .record({ at: fc.nat(5_000), drop: fc.constant(1), insert: fc.constantFrom(...LETTERS) })
    .map((change) => spliced(value, change));
  return fc.oneof(anything, anotherLetter);
}

/** Requests as valid as this one that ask for something else, and this one without each parameter. */
function otherRequests(value: string): string[] {
  const print = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&');
  const pairs = [...new URLSearchParams(value)];
  const another = { state: 'another', scope: 'account-info', instance_name: 'another' };
  const valid = { ...another, code_challenge: 'A'.repeat(43) };
  return [
    ...Object.entries(valid).map(([other, text]) =>
      print(pairs.map(([name, old]) => [name, name === other ? text : old])),
    ),
    ...pairs.map(([left]) => print(pairs.filter(([name]) => name !== left))),
    print(pairs.filter(([name]) => !name.startsWith('code_challenge'))),
  ];
}

const READS_ONLY = /^GET |^POST (\/oauth\/account\/warnings|\/oauth\/introspect)$/;

/** The value as the server reads it: values of one meaning are equal. */
function meaningOf(need: string, value: string): string {
  const meaning = MEANINGS[need];
  return meaning === undefined ? value : meaning(value);
}

const MEANINGS: Record<string, (value: string) => string> = {
  request: (value) => {
    const query = new URLSearchParams(value);
    return JSON.stringify(AUTHORIZATION_PARAMETERS.map((name) => query.getAll(name)));
  },
  login: (value) =>
    value
      .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
      .trim()
      .normalize('NFKC')
      .toLowerCase(),
  password: (value) => value.normalize('NFKC'),
  payment_password: (value) => value.normalize('NFKC'),
  'header cookie': (value) => {
    const { assent_session, assent_visit } = fastifyCookie.parse(firstLine(value));
    return JSON.stringify({ assent_session, assent_visit });
  },
  'header authorization': (value) => {
    const [scheme = '', ...credentials] = firstLine(value).trim().split(/ +/);
    const decoded = Buffer.from(credentials.join(''), 'base64').toString('latin1');
    return /^basic$/i.test(scheme) ? decoded : `${scheme.toLowerCase()} ${credentials.join(' ')}`;
  },
};

/** A header's value ends where its line does. */
function firstLine(value: string): string {
  return value.split(/[\r\n]/, 1)[0] ?? '';
}
