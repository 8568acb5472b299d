import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { follow } from '../support/account.ts';
import { codeOf, confirm, decide, leadsTo, press, reachConsent, requestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { documentOf, expectToken, expectTokenError } from '../support/http/tokenRequests.ts';
import { factsOf } from '../support/pages.ts';
import { createDatabase } from '../support/postgres/database.ts';
import { startServer } from '../support/server.ts';
import { flowAt } from './flowAt.ts';

// Lifetimes count by `clock_timestamp()`, which is found in our schema first. Only past times are set: sessions keep real ones.
const database = await createDatabase();
await database.pool.query(`
  create schema clock;
  create table clock.setting as select timestamptz '2018-06-01 12:00Z' as moment;
  create function clock.clock_timestamp() returns timestamptz language sql volatile
    as 'select moment from clock.setting'`);
const name = new URL(database.url).pathname.slice(1);
await database.pool.query(`alter database ${name} set search_path = clock, pg_catalog, public`);
const pool = openDatabase(database.url);
const server = await startServer({ database: { ...database, pool } });
afterAll(async () => {
  await server.close();
  await pool.end();
  await database.drop();
});

/** Stops the clock at this moment. */
const travelTo = (time: string | Date) =>
  pool.query('update clock.setting set moment = $1', [new Date(time)]);

const { agent, reachPage, codeFor, exchanged, introspected, live, writingNothing } = await flowAt(server);
const client = await server.createClient();

const NOON = '2018-06-01T12:00:00.000Z';
const LIFETIME_MS = 50_000;

const later = (start: string, milliseconds: number) => new Date(Date.parse(start) + milliseconds);

describe('contract 4.1 and 8: a page that stays open for long', () => {
  it.each([
    ['2018-06-01T12:14:59.999Z', 302],
    ['2018-06-01T12:15:00.000Z', 303],
  ])('4.1 has an end: opened at 12:00, allowed at %s, status %i', async (moment, status) => {
    await travelTo(NOON);
    const page = await reachPage(await server.createClient());
    await travelTo(moment);
    const answer = () => decide(agent, page, 'allow');
    expect((await (status === 303 ? writingNothing(answer) : answer())).status).toBe(status);
  });

  it.each([
    ['2018-06-01T12:14:59.999Z', '/oauth/receipt'],
    ['2018-06-01T12:15:00.000Z', '/oauth/authorize'],
  ])('4.1 has an end: allowed at 12:00, confirmed at %s, leads to %s', async (moment, path) => {
    await travelTo(NOON);
    const payer = await server.createUser();
    const browser = new Agent(server.baseUrl);
    const consent = await reachConsent(browser, requestOf(client, { scope: 'payment-shop' }), payer);
    const page = await follow(browser, await press(browser, consent, 'allow'));
    await travelTo(moment);
    const answer = () => confirm(browser, page, payer.paymentPassword);
    expect(leadsTo(await (path === '/oauth/receipt' ? answer() : writingNothing(answer)), path)).toBe(true);
  });
});

describe('contract 8: the lifetime of the code', () => {
  it.each([LIFETIME_MS - 1, LIFETIME_MS])(
    '8 a code expires within a minute: exchanged after %i ms [contract-37]',
    async (passed) => {
      await travelTo(NOON);
      const code = await codeFor(client);
      await travelTo(later(NOON, passed));
      const answer = await exchanged(client, code);
      if (passed < LIFETIME_MS) expectToken(answer);
      else expectTokenError(answer, 'invalid_grant');
    },
  );

  it('8 pressing Allow again does not extend the lifetime of a code', async () => {
    await travelTo(NOON);
    const page = await reachPage(client);
    const code = codeOf(await decide(agent, page, 'allow'));
    await travelTo(later(NOON, LIFETIME_MS - 1));
    expect(codeOf(await decide(agent, page, 'allow'))).toBe(code);
    await travelTo(later(NOON, LIFETIME_MS));
    const late = await follow(agent, await decide(agent, page, 'allow'));
    expect(late.text).toContain('You already allowed this');
    expectTokenError(await exchanged(client, code), 'invalid_grant');
  });

  it.each([
    [LIFETIME_MS - 1, false],
    [LIFETIME_MS, true],
  ])(
    '8 a replay revokes the token only within the lifetime of the code: after %i ms (token active: %s)',
    async (passed, stays) => {
      await travelTo(NOON);
      const code = await codeFor(client);
      const token = expectToken(await exchanged(client, code));
      await travelTo(later(NOON, passed));
      expectTokenError(await exchanged(client, code), 'invalid_grant');
      expect(await live(token)).toBe(stays);
    },
  );
});

describe('contract 8: the lifetime of the access token', () => {
  it.each([
    ['2018-02-06T23:59:59.999Z', '2018-08-06T23:59:59.999Z'],
    ['2018-02-07T00:00:00.000Z', '2021-02-07T00:00:00.000Z'],
    ['2020-02-29T12:00:00.000Z', '2023-02-28T12:00:00.000Z'],
  ])('8 a token issued at %s expires at %s [contract-38]', async (issued, expires) => {
    await travelTo(issued);
    const answer = await exchanged(client, await codeFor(client));
    const token = expectToken(answer);
    const [iat, exp] = [issued, expires].map((moment) => Math.floor(Date.parse(moment) / 1000));
    expect(documentOf(answer).expires_in).toBe((Date.parse(expires) - Date.parse(issued)) / 1000);
    await travelTo(later(expires, -1));
    expect(await introspected(token)).toMatchObject({ active: true, iat, exp });
    await travelTo(expires);
    expect(await introspected(token)).toEqual({ active: false });
  });

  it('1.2.1 and 8 the expiry is shown before the decision', async () => {
    await travelTo(NOON);
    expect(factsOf(await reachPage(client))['Valid until']).toBe('1 June 2021');
  });

  it('8 a token’s lifetime starts at its issue, not at the confirmation', async () => {
    await travelTo('2018-02-06T23:59:40.000Z');
    const code = await codeFor(client);
    await travelTo('2018-02-07T00:00:10.000Z');
    const token = expectToken(await exchanged(client, code));
    expect(await introspected(token)).toMatchObject({ exp: Date.parse('2021-02-07T00:00:10.000Z') / 1000 });
  });
});
