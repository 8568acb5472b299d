import { beforeAll, describe, expect, it } from 'vitest';
import { s256 } from '../../src/secrets/digest.ts';
import { flowAt } from '../contract/flowAt.ts';
import { signedIn } from '../support/account.ts';
import {
  codeOf,
  decide,
  leadsTo,
  linkTo,
  press,
  reachConsent,
  requestOf,
  tokenRequestOf,
} from '../support/flow.ts';
import { Agent, formWith } from '../support/http/agent.ts';
import {
  basic,
  type Changes,
  change,
  documentOf,
  expectToken,
  expectTokenError,
  postToken,
} from '../support/http/tokenRequests.ts';
import { newSecret } from '../support/ledger.ts';
import { commandsOn } from '../support/process/commands.ts';
import { onDatabase } from '../support/process/process.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { open } from './browsers.ts';
import { logOf } from './refusals.ts';

// An attacker has the code or token of another user, or wants one that was meant for another.

const server = await useServer();
const { user: victim, agent: browser, ...flow } = await flowAt(server);
const { codeFor, tokenFor, exchanged, introspected, live, writingNothing } = flow;
const attacker = await server.createUser({ paymentPassword: null });
const [shop, evil] = [await server.createClient(), await server.createClient()];
const evilPublic = await server.createClient({ verified: false });

it('a code of another application gives no token, whichever client_id and secret are sent [codes-1]', async () => {
  const code = await codeFor(shop);
  const own = tokenRequestOf(evil, code);
  const withoutId = change(own, { client_id: undefined, client_secret: undefined });
  const asEvil = basic(evil.clientId, evil.clientSecret ?? '');
  const attempts: [changes: Changes, headers?: Record<string, string>][] = [
    [own],
    [{ ...own, client_id: evilPublic.clientId, client_secret: undefined }],
    [{ ...own, client_id: shop.clientId }],
    [{ ...own, client_id: shop.clientId, client_secret: undefined }],
    [withoutId, asEvil],
    [{ ...withoutId, client_id: shop.clientId }, asEvil],
    [{ ...own, client_id: shop.clientId }, asEvil],
    [withoutId, basic(shop.clientId, evil.clientSecret ?? '')],
    [{ ...withoutId, client_secret: evil.clientSecret ?? '' }, basic(shop.clientId, '')],
  ];
  for (const [changes, headers] of attempts) {
    const answer = await postToken(server, change({}, changes), headers);
    expect(answer.status).toBe(400);
    expect(documentOf(answer)).not.toHaveProperty('access_token');
  }
  const token = expectToken(await exchanged(shop, code));
  expect(await introspected(token)).toMatchObject({ client_id: shop.clientId });
});

const challengeOf = (verifier: string) => ({
  code_challenge: s256(verifier),
  code_challenge_method: 'S256',
});
const MINE = newSecret();
const THEIRS = newSecret();

describe.each([true, false])('a code of an application that uses PKCE (confidential: %s)', (verified) => {
  let client: TestClient;

  beforeAll(async () => {
    client = await server.createClient({ verified });
  });

  /** Expects a refusal that names the broken rule in the log only. */
  async function expectRefused(code: string, changes: Changes, rule: string): Promise<void> {
    const answer = await exchanged(client, code, changes);
    expectTokenError(answer, 'invalid_grant');
    expect(documentOf(answer).error_description).toBe('The code is not valid.');
    expect(await logOf(server, answer)).toMatchObject({ rule: `${rule}; the code stays usable` });
  }

  it('is refused if code_verifier is missing, empty, wrong or equal to the code_challenge [codes-2]', async () => {
    const code = await codeFor(client, challengeOf(MINE));
    for (const code_verifier of [undefined, ''])
      await expectRefused(
        code,
        { code_verifier },
        'code_verifier is missing, but the request had a code_challenge',
      );
    for (const changes of [
      { code_verifier: challengeOf(MINE).code_challenge },
      { code_verifier: THEIRS },
      { code_verifier: THEIRS, code_challenge_method: 'plain' },
      { code_verifier: THEIRS, ...challengeOf(THEIRS) },
    ])
      await expectRefused(code, changes, 'code_verifier does not match');
    expectToken(await exchanged(client, code, { code_verifier: MINE }));
  });

  it('is useless to an attacker who removed the challenge from the request [codes-3]', async () => {
    const code = await codeFor(client);
    const rule = 'code_verifier was sent, but the request had no code_challenge';
    await expectRefused(code, { code_verifier: MINE }, rule);
    const page = await open(browser, client, challengeOf(MINE));
    const form = formWith(page, 'decision');
    const stripped = (form.fields.request ?? '').replace(/&code_challenge.*$/, '');
    const sent = { ...form.fields, request: stripped, decision: 'allow' };
    const answer = await writingNothing(() => browser.post(form.action, sent));
    expect([answer.status, answer.location?.includes('code=')]).toEqual([303, false]);
  });
});

it('a code goes only to the browser that sent Allow, not to others with the same request, URL or form [codes-4]', async () => {
  const request = requestOf(shop, { state: 'of the victim' });
  const page = await reachConsent(browser, request, victim);
  const code = codeOf(await decide(browser, page, 'allow'));
  const mallory = await signedIn(server, attacker);
  for (const spy of [mallory, new Agent(server.baseUrl)]) {
    const shown = await spy.get(linkTo(request));
    const decided = await decide(spy, page, 'allow');
    expect(['consent', 'sign-in']).toContain(shown.page);
    expect(decided.status).toBe(303);
    const seen = [shown, decided, await spy.get(decided.location ?? ''), await spy.get('/oauth/account')];
    expect(seen.map(({ body, location }) => `${body}${location}`).join()).not.toContain(code);
  }
  const token = expectToken(await exchanged(shop, code));
  expect(await introspected(token)).toMatchObject({ sub: victim.userId });
});

it('an application that is deleted and registered again under its id gets another code, for a page of its own', async () => {
  const { json } = commandsOn(onDatabase(server.database.url));
  const redirectUri = 'https://again.example/';
  const register = async () => {
    await json(`client create --name Again --redirect-uri ${redirectUri} --id again`);
    return { clientId: 'again', redirectUri, clientSecret: null };
  };
  const client = await register();
  const used = await codeFor(client);
  expectToken(await exchanged(client, used));
  const open = await reachConsent(browser, requestOf(client, { instance_name: 'open' }), victim);
  await json('client delete again --yes');
  await register();
  expect(leadsTo(await press(browser, open, 'allow'), '/oauth/authorize')).toBe(true);
  const code = await codeFor(client);
  expect(code).not.toBe(used);
  expectTokenError(await exchanged(client, used), 'invalid_grant');
  expectToken(await exchanged(client, code));
});

describe('an access token', () => {
  it('is invalid once its application is deleted; so is a code [codes-5]', async () => {
    const client = await server.createClient();
    const token = await tokenFor(client);
    const code = await codeFor(client, { instance_name: 'phone' });
    expect(await live(token)).toBe(true);
    await commandsOn(onDatabase(server.database.url)).json(`client delete ${client.clientId} --yes`);
    expect(await introspected(token)).toEqual({ active: false });
    expectTokenError(await exchanged(client, code), 'unauthorized_client');
    expectTokenError(await exchanged(evilPublic, code), 'invalid_grant');
    expect((await browser.get('/oauth/account')).text).not.toContain('phone');
  });

  it('is not reported as revoked if the revocation could not be written [codes-6]', async () => {
    const client = await server.createClient();
    const token = await tokenFor(client);
    const { pool } = server.database;
    await pool.query(`
      create function fail() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger fail before update of revoked_at on grants for each row execute function fail()`);
    try {
      const credentials = { client_id: client.clientId, client_secret: client.clientSecret ?? '' };
      const agent = new Agent(server.baseUrl);
      const answers = [
        await agent.post('/oauth/revoke', { token, ...credentials }),
        await agent.send('/api/revoke', { method: 'POST', headers: { authorization: `Bearer ${token}` } }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([500, 500]);
      expect(await live(token)).toBe(true);
    } finally {
      await pool.query('drop trigger fail on grants; drop function fail');
    }
  });
});
