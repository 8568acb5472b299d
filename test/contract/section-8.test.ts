import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { codeOf, decide, introspect, obtainCode, reachConsent, requestOf } from '../support/flow.ts';
import { isLive } from '../support/state.ts';
import { documentOf, exchange, expectToken, expectTokenError } from '../support/tokenRequests.ts';
import { useTimeMachine } from './timeMachine.ts';

const time = await useTimeMachine();

const NOON = '2018-06-01T12:00:00.000Z';
const LIFETIME_MS = 50_000;

const user = await time.server.createUser({ paymentPassword: null });
const agent = new Agent(time.server.baseUrl);
const resource = await time.server.createResource();
const client = await time.server.createClient();

function later(start: string, milliseconds: number): Date {
  return new Date(Date.parse(start) + milliseconds);
}

function liveNow(token: string): Promise<boolean> {
  return isLive(time.server, resource, token);
}

describe('contract 8: the lifetime of the code', () => {
  it('8 a code lives less than 1 minute', async () => {
    await obtainCode(agent, requestOf(client), user);
    const { rows } = await time.server.database.pool.query<{ seconds: number }>(
      `select extract(epoch from code_expires_at - confirmed_at)::float as seconds from grants
        where client_id = $1`,
      [client.clientId],
    );
    expect(rows).toEqual([{ seconds: time.server.context.codeLifetimeSeconds }]);
    expect(rows[0]?.seconds).toBeLessThan(60);
    expect(rows[0]?.seconds).toBeGreaterThan(0);
  });

  it.each([0, LIFETIME_MS - 1])('8 a code is still good after %i ms', async (passed) => {
    await time.travelTo(NOON);
    const code = await obtainCode(agent, requestOf(client), user);
    await time.travelTo(later(NOON, passed));
    expectToken(await exchange(time.server, client, code));
  });

  it.each([LIFETIME_MS, 86_400_000])('8 a code has expired after %i ms', async (passed) => {
    await time.travelTo(NOON);
    const code = await obtainCode(agent, requestOf(client), user);
    await time.travelTo(later(NOON, passed));
    expectTokenError(await exchange(time.server, client, code), 'invalid_grant');
  });

  it('8 a code lives no longer when Allow is pressed again', async () => {
    await time.travelTo(NOON);
    const shop = await time.server.createClient();
    const page = await reachConsent(agent, requestOf(shop), user);
    const code = codeOf(await decide(agent, page, 'allow'));
    await time.travelTo(later(NOON, LIFETIME_MS - 1));
    expect(codeOf(await decide(agent, page, 'allow'))).toBe(code);
    await time.travelTo(later(NOON, LIFETIME_MS));
    expect((await decide(agent, page, 'allow')).page).toBe('notice');
    expectTokenError(await exchange(time.server, shop, code), 'invalid_grant');
  });

  it.each([
    [LIFETIME_MS - 1, false],
    [LIFETIME_MS, true],
  ])(
    '8 a repeat annuls the token only in the lifetime of the code: after %i ms it stays live: %s',
    async (passed, stays) => {
      await time.travelTo(NOON);
      const code = await obtainCode(agent, requestOf(client), user);
      const token = expectToken(await exchange(time.server, client, code));
      await time.travelTo(later(NOON, passed));
      expectTokenError(await exchange(time.server, client, code), 'invalid_grant');
      expect(await liveNow(token)).toBe(stays);
    },
  );
});

const TOKEN_LIFETIMES: [issued: string, expires: string][] = [
  ['2018-02-06T23:59:59.999Z', '2018-08-06T23:59:59.999Z'],
  ['2018-02-07T00:00:00.000Z', '2021-02-07T00:00:00.000Z'],
  ['2017-08-31T12:00:00.000Z', '2018-02-28T12:00:00.000Z'],
  ['2015-08-31T12:00:00.000Z', '2016-02-29T12:00:00.000Z'],
  ['2020-02-29T12:00:00.000Z', '2023-02-28T12:00:00.000Z'],
];

describe('contract 8: the lifetime of the access token', () => {
  it.each(TOKEN_LIFETIMES)('8 a token issued at %s expires at %s', async (issued, expires) => {
    await time.travelTo(issued);
    const code = await obtainCode(agent, requestOf(client), user);
    const answer = await exchange(time.server, client, code);
    const token = expectToken(answer);
    const seconds = (moment: string) => Math.floor(Date.parse(moment) / 1000);
    expect(documentOf(answer).expires_in).toBe((Date.parse(expires) - Date.parse(issued)) / 1000);
    await time.travelTo(later(expires, -1));
    expect(await introspect(time.server, resource, token)).toMatchObject({
      active: true,
      iat: seconds(issued),
      exp: seconds(expires),
    });
    await time.travelTo(expires);
    expect(await introspect(time.server, resource, token)).toEqual({ active: false });
    await time.travelTo(later(expires, 365 * 86_400_000));
    expect(await introspect(time.server, resource, token)).toEqual({ active: false });
  });

  it('8 a token lives from its issue, not from the confirmation', async () => {
    await time.travelTo('2018-02-06T23:59:40.000Z');
    const code = await obtainCode(agent, requestOf(client), user);
    await time.travelTo('2018-02-07T00:00:10.000Z');
    const token = expectToken(await exchange(time.server, client, code));
    expect(await introspect(time.server, resource, token)).toMatchObject({
      exp: Date.parse('2021-02-07T00:00:10.000Z') / 1000,
    });
  });
});
