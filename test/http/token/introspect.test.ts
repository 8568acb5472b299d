import { describe, expect, it } from 'vitest';
import { flowAt } from '../../contract/flowAt.ts';
import { obtainToken } from '../../support/flow.ts';
import { Agent } from '../../support/http/agent.ts';
import { useServer } from '../../support/server.ts';

const server = await useServer();
const { pool } = server.database;
const { agent, resource, user, tokenFor, introspected: told } = await flowAt(server);
const client = await server.createClient();

const ask = (token: string, authorization = resource) =>
  agent.post('/oauth/introspect', { token }, { authorization });

describe('RFC 7662: introspection', () => {
  it('returns user, grant, lifetime and limits, and omits absent values [introspect-1]', async () => {
    const scope =
      'account-info payment.to-account("41001").limit(7,250.50) payment-shop money-source("card")';
    const account = { right: 'payment.to-account', target: '41001', target_type: 'account' };
    const spending = [
      { ...account, period_days: 7, amount: '250.50', currency: 'RUB' },
      { right: 'payment-shop', period_days: 1, amount: '3000', currency: 'RUB' },
    ];
    const token = await tokenFor(client, { scope, instance_name: 'phone' });
    const answer = await ask(token);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { iat, exp, ...document } = JSON.parse(answer.body) as Record<string, unknown>;
    expect(document).toEqual({
      active: true,
      scope,
      client_id: client.clientId,
      username: user.login,
      sub: user.userId,
      grant_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      token_type: 'bearer',
      instance_name: 'phone',
      rights: [{ right: 'account-info' }, ...spending, { right: 'money-source', sources: ['card'] }],
      payment_limits: spending,
      money_sources: ['card'],
    });
    const threeYears = new Date(Number(iat) * 1000);
    threeYears.setUTCFullYear(threeYears.getUTCFullYear() + 3);
    expect(exp).toBe(threeYears.getTime() / 1000);
    const poor = await told(await tokenFor(client, { scope: 'account-info' }));
    expect(poor).not.toHaveProperty('instance_name');
    expect(poor).toMatchObject({ payment_limits: [], money_sources: [] });
    expect(Object.values(poor)).not.toContain(null);
  });

  it('returns one grant_id for all authorizations of a user, an application and an instance [introspect-2]', async () => {
    const [other, someone] = await Promise.all([server.createClient(), server.createUser()]);
    const idOf = async (token: string) => (await told(token)).grant_id;
    const authorize = async (fields: Record<string, string> = {}, as = client) =>
      idOf(await tokenFor(as, fields));
    const first = await authorize();
    expect(await authorize({ scope: 'payment-shop.limit(,5)' })).toBe(first);
    const others = [
      await authorize({ instance_name: 'one' }),
      await authorize({ instance_name: 'two' }),
      await authorize({}, other),
      await idOf(await obtainToken(new Agent(server.baseUrl), client, someone)),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
    expect(await authorize({ instance_name: 'two' })).toBe(others[1]);
  });

  it('returns the same grant_id or active: false while a new authorization replaces the token', async () => {
    const instance = { instance_name: 'raced' };
    let token = await tokenFor(client, instance);
    const { grant_id } = await told(token);
    for (let round = 0; round < 5; round += 1) {
      const next = tokenFor(client, instance);
      const seen: Awaited<ReturnType<typeof told>>[] = [];
      do seen.push(await told(token));
      while (seen.at(-1)?.active);
      expect(seen.slice(0, -1).filter((one) => one.grant_id !== grant_id)).toEqual([]);
      expect(seen.at(-1)).toEqual({ active: false });
      token = await next;
      expect(await told(token)).toMatchObject({ active: true, grant_id });
    }
  });

  it('returns rights granted before targets were limited to text without white space', async () => {
    const token = await tokenFor(client, { scope: 'payment.to-pattern("1").limit(1,1)' });
    const target = '1 account-info\u00a0\u3164 incoming-transfers 1';
    const scope = `payment.to-pattern("${target}").limit(1,1)`;
    const { grant_id } = await told(token);
    await pool.query('update grants set scope = $1 where grant_id = $2', [scope, grant_id]);
    const limit = { period_days: 1, amount: '1', currency: 'RUB' };
    const right = { right: 'payment.to-pattern', target, ...limit };
    expect(await told(token)).toMatchObject({ scope, rights: [right], payment_limits: [right] });
  });

  it('tells an application whether its own token holds, without the user, and calls others’ inactive [introspect-4]', async () => {
    const basicOf = (id: string, secret = '') => `Basic ${btoa(`${id}:${secret}`)}`;
    const own = basicOf(client.clientId, client.clientSecret ?? '');
    const scope = 'account-info payment-shop.limit(7,100)';
    const token = await tokenFor(client, { scope });
    const { grant_id, exp, iat } = await told(token);
    const documentOf = async (token: string, authorization: string) =>
      JSON.parse((await ask(token, authorization)).body);
    expect(await documentOf(token, own)).toEqual({
      ...{ active: true, client_id: client.clientId, scope, token_type: 'bearer', grant_id, exp, iat },
      ...{ rights: expect.any(Array), payment_limits: expect.any(Array), money_sources: ['wallet'] },
    });
    const stranger = await server.createClient();
    const foreign = basicOf(stranger.clientId, stranger.clientSecret ?? '');
    expect(await documentOf(token, foreign)).toEqual({ active: false });
    expect((await ask(token, basicOf(client.clientId, 'wrong'))).status).toBe(401);
    const open = await server.createClient({ verified: false });
    expect((await ask(await tokenFor(open), basicOf(open.clientId))).status).toBe(401);
    await pool.query(`update clients set status = 'blocked' where client_id = $1`, [stranger.clientId]);
    expect((await ask(token, foreign)).status).toBe(401);
    await tokenFor(client, { scope });
    expect(await documentOf(token, own)).toEqual({ active: false });
  });

  it('refuses wrong credentials, and a missing token [introspect-3]', async () => {
    for (const other of ['', 'Basic', 'Basic !!!', `Basic ${btoa('x:')}`, 'Bearer x']) {
      const { status, headers, body } = await ask('x', other);
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Basic realm="introspection"']);
      expect(JSON.parse(body)).toMatchObject({ error: 'invalid_client' });
    }
    const { status, body } = await agent.post('/oauth/introspect', {}, { authorization: resource });
    expect([status, JSON.parse(body).error]).toEqual([400, 'invalid_request']);
  });
});
