import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Parameters } from '../../../src/rules/request/parameters.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from '../../support/http/fuzz.ts';
import {
  type Edit,
  FUZZED_HEADERS,
  placesOf,
  sendRequest,
  spoiled,
  writeRequest,
} from '../../support/http/rawRequest.ts';
import { isSlow, prepareSamples, ROUTES, type Route } from '../../support/http/samples.ts';
import { type Splice, splice } from '../../support/http/splice.ts';
import { forgetTries, rowsOf } from '../../support/postgres/rows.ts';
import { useServer } from '../../support/server.ts';
import { expectDone, expectSound, faultsOf } from '../../support/sound.ts';

// A request to each route that is right but for one secret, and then changed in one place, anything at all put there:
// it is answered soundly and changes nothing. What is right but for the change is in fuzzNeeds.test.ts.

const server = await useServer({ codeLifetimeSeconds: 3600 });

const samples = await prepareSamples(server);

/** For each place of each request. */
const RUNS = 3;
/** A sign-in is slow on purpose. */
const SLOW_RUNS = 1;
const SEVERAL_RUNS = 300;
/** What can't be text in a database: in every parameter, and in the credentials of HTTP Basic, each time. */
const NO_TEXT: readonly Splice[] = ['%00', '%FF', '%ED%A0%80'].map((insert) => ({ at: 1, drop: 0, insert }));

/** Sends the request with its edits and expects a sound answer. */
async function expectAnswered(route: Route, edits: readonly Edit[]): Promise<void> {
  const request = writeRequest(route, spoiled(samples[route]), edits);
  const reader = edits.some(({ place }) => place === 'path') ? 'anybody' : samples[route].reader;
  for (const answer of await sendRequest(server.baseUrl, request)) expectSound(server, answer, reader);
}

describe('any value in any place', { timeout: FUZZ_TIMEOUT_MS }, () => {
  it.each(ROUTES)('of a request to %s is answered and changes nothing', async (route) => {
    const rows = await rowsOf(server.database);
    for (const place of placesOf(samples[route])) {
      await forgetTries(server.database);
      const runs = isSlow(route) ? SLOW_RUNS : RUNS;
      const check = (change: Splice) => expectAnswered(route, [{ place, splice: change }]);
      await fuzz(
        `${place} of ${route}`,
        runs,
        splice,
        check,
        /^field |^credentials$/.test(place) ? NO_TEXT : [],
      );
      expect(await rowsOf(server.database), place).toBe(rows);
    }
    expect(faultsOf(server)).toEqual([]);
  });

  it('and in several places at once is answered and changes nothing', async () => {
    const routes = ROUTES.filter((route) => !isSlow(route));
    const changes = fc.array(fc.tuple(fc.nat(), splice), { minLength: 2, maxLength: 4 });
    const rows = await rowsOf(server.database);
    await fuzz(
      'several places',
      SEVERAL_RUNS,
      fc.tuple(fc.constantFrom(...routes), changes),
      async ([route, edits]) => {
        const places = placesOf(samples[route]);
        await expectAnswered(
          route,
          edits.map(([which, change]) => ({ place: places[which % places.length] ?? '', splice: change })),
        );
        expect(await rowsOf(server.database)).toBe(rows);
      },
    );
    expect(faultsOf(server)).toEqual([]);
  });
});

describe('the fuzzed input', () => {
  it('covers every route', () => {
    // The style and the script have a hash in their path, and read nothing of a request but that.
    const routes = server.routes.filter((route) => !/^HEAD |^GET \/(form|style)-/.test(route));
    expect(routes).toEqual(ROUTES.toSorted());
  });

  it('covers every parameter that is read of a valid request, each with a valid value', async () => {
    await forgetTries(server.database);
    const reads = (['get', 'find'] as const).map((method) => vi.spyOn(Parameters.prototype, method));
    for (const route of ROUTES) await expectDone(server, route, samples[route]);
    const read = new Set(reads.flatMap(({ mock }) => mock.calls.map(([name]) => name)));
    for (const spy of reads) spy.mockRestore();
    const fuzzed = new Set(Object.values(samples).flatMap(({ fields }) => Object.keys(fields)));
    expect([...read].toSorted()).toEqual([...fuzzed].toSorted());
  });

  it('covers every header that is read', () => {
    const folder = new URL('../../../src/http/', import.meta.url);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const sources = files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const read = [...sources.join('\n').matchAll(/headers(?:\.(\w+)|\['([\w-]+)'\])/g)];
    expect(read).not.toHaveLength(0);
    for (const [, word, quoted] of read) expect(FUZZED_HEADERS).toContain(word ?? quoted);
  });
});
