import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { logOf } from '../attacks/refusals.ts';
import { press } from '../support/account.ts';
import { linkTo, obtainCode, requestOf, tokenRequestOf } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import {
  basic,
  type Changes,
  change,
  documentOf,
  expectToken,
  expectTokenError,
  postToken,
} from '../support/http/tokenRequests.ts';
import { expectErrorPage } from '../support/pages.ts';
import { useServer } from '../support/server.ts';
import { expireCode, setClientStatus, setUserStatus } from '../support/state.ts';
import { flowAt } from './flowAt.ts';

// test/rules has the cases of each rule. These tests show that the front door applies it.

const server = await useServer();

const { agent, reachPage, codeFor, exchanged, writingNothing } = await flowAt(server);
const shop = await server.createClient();
const blocked = await server.createClient();
await setClientStatus(server, blocked, 'blocked');
await reachPage(shop);

const TOO_LONG = { instance_name: 'x'.repeat(256) };
const EVIL = { redirect_uri: 'https://evil.example/' };

describe('contract 7.1: errors of the authorization request', () => {
  it.each<[error: string, what: string, Changes]>([
    ['invalid_request', 'a missing client_id', { client_id: undefined, redirect_uri: 'x', scope: 'x' }],
    ['invalid_request', 'an empty client_id', { client_id: '', redirect_uri: 'x', scope: 'x' }],
    ['invalid_request', 'a missing redirect_uri', { redirect_uri: undefined }],
    ['invalid_request', 'an unregistered redirect_uri', EVIL],
    ['invalid_request', 'a missing response_type', { response_type: undefined }],
    ['invalid_request', 'an unsupported response_type', { response_type: 'token', scope: 'x' }],
    ['invalid_request', 'an instance_name that is too long', TOO_LONG],
    ['invalid_request', 'a malformed code_challenge', { code_challenge: 'x', code_challenge_method: 'S256' }],
    ['invalid_scope', 'a missing scope', { scope: undefined }],
    ['invalid_scope', 'an unknown right', { scope: 'account-info make-coffee', ...TOO_LONG }],
    ['invalid_scope', 'contradictory rights', { scope: 'payment-shop.limit(1,5) payment-p2p.limit(,5)' }],
    ['invalid_scope', 'lookalike targets', { scope: 'payment.to-pattern("c") payment.to-pattern("с")' }],
    ['unauthorized_client', 'an unknown client_id', { client_id: 'unknown', redirect_uri: 'x', scope: 'x' }],
    ['unauthorized_client', 'a client_id with an appended digit', { client_id: `${shop.clientId}0` }],
    ['unauthorized_client', 'a blocked client', { client_id: blocked.clientId, redirect_uri: 'x' }],
  ])('7.1 shows %s for %s, by POST or GET, signed in or not [contract-31]', async (error, _what, changes) => {
    const fields = change(requestOf(shop), changes);
    await writingNothing(async () => {
      for (const browser of [agent, new Agent(server.baseUrl)]) {
        expectErrorPage(await browser.post('/oauth/authorize', fields), error);
        expectErrorPage(await browser.get(linkTo(fields)), error);
      }
    });
  });

  it('7.1 shows invalid_scope for a right that the application may not request, and for a scope that is not UTF-8', async () => {
    const reader = await server.createClient({ allowedRights: ['account-info', 'operation-history'] });
    const request = requestOf(reader, { scope: 'account-info payment-p2p' });
    const notText = `${new URLSearchParams(change(request, { scope: undefined }))}&scope=%FF`;
    for (const form of [request, notText])
      expectErrorPage(await agent.post('/oauth/authorize', form), 'invalid_scope');
    expect((await reachPage(reader)).page).toBe('consent');
  });
});

/** A well-formed code that was never issued. */
const NEVER_ISSUED = `assent_ac_${createHash('sha384').update('never issued').digest('base64url')}`;

describe('contract 7.2: refused token requests that keep the code usable', () => {
  it.each<[error: string, what: string, Changes]>([
    ['invalid_request', 'a missing code', { code: undefined }],
    ['invalid_request', 'a missing client_id', { client_id: undefined }],
    ['invalid_request', 'a missing redirect_uri', { redirect_uri: undefined }],
    ['invalid_request', 'a different redirect_uri', EVIL],
    ['invalid_request', 'a wrong grant_type and secret', { grant_type: 'x', client_secret: 'wrong' }],
    ['invalid_request', 'a malformed code_verifier', { code_verifier: 'short' }],
    ['unauthorized_client', 'an unknown client_id', { client_id: 'unknown' }],
    ['unauthorized_client', 'a wrong client_secret and redirect_uri', { client_secret: 'x', ...EVIL }],
    ['unauthorized_client', 'a missing client_secret', { client_secret: undefined }],
    ['unauthorized_client', 'an empty client_secret', { client_secret: '' }],
  ])('7.2 answers %s to %s [contract-32]', async (error, _what, changes) => {
    const code = await codeFor(shop);
    expectTokenError(await writingNothing(() => exchanged(shop, code, changes)), error);
    expectToken(await exchanged(shop, code));
  });

  it.each([NEVER_ISSUED, 'malformed'])('7.2 checks the application first: %j [contract-33]', async (code) => {
    for (const changes of [{ client_id: 'unknown' }, { client_secret: 'wrong' }])
      expectTokenError(await exchanged(shop, code, changes), 'unauthorized_client');
    expectTokenError(await exchanged(blocked, code), 'unauthorized_client');
  });
});

describe('contract 7.2: invalid_grant', () => {
  it.each([NEVER_ISSUED, ' ', 'код', NEVER_ISSUED.replace('_ac_', '_at_'), 'x'.repeat(5000)])(
    '7.2 is the answer to an unknown code, before the redirect_uri is checked: %j',
    async (code) => {
      const answer = await writingNothing(() => exchanged(shop, code, EVIL));
      expectTokenError(answer, 'invalid_grant');
      expect(documentOf(answer).error_description).toBe('The code is not valid.');
      const rule =
        code === NEVER_ISSUED ? /^code never issued to this client/ : /^malformed code: not issued/;
      expect(await logOf(server, answer)).toMatchObject({ rule: expect.stringMatching(rule) });
    },
  );

  it('7.2 is the answer to a code whose user disconnected the application or was blocked [contract-34]', async () => {
    const user = await server.createUser({ paymentPassword: null });
    const browser = new Agent(server.baseUrl);
    const code = await obtainCode(browser, requestOf(shop), user);
    await press(browser, await browser.get('/oauth/account'), '/oauth/account/disconnect');
    expectTokenError(await exchanged(shop, code), 'invalid_grant');
    const second = await obtainCode(browser, requestOf(shop), user);
    await setUserStatus(server, user.login, 'blocked');
    expectTokenError(await exchanged(shop, second), 'invalid_grant');
  });

  it('7.2 does not reveal why a code is refused [contract-35]', async () => {
    const client = await server.createClient();
    const used = await codeFor(client);
    await exchanged(client, used);
    const ofUsed = await exchanged(client, used);
    const expired = await codeFor(client);
    await expireCode(server, client);
    const others = [expired, NEVER_ISSUED, await codeFor(shop)];
    const answers = [ofUsed, ...(await Promise.all(others.map((code) => exchanged(client, code))))];
    for (const answer of answers) expectTokenError(answer, 'invalid_grant');
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  });
});

it('7.2 an error is a JSON object with status 400, also after HTTP Basic [contract-36]', async () => {
  const { client_id, client_secret, ...fields } = tokenRequestOf(shop, NEVER_ISSUED);
  const wrong = await postToken(server, fields, basic(client_id ?? '', 'x'));
  expectTokenError(wrong, 'unauthorized_client');
  const right = await postToken(server, fields, basic(client_id ?? '', client_secret ?? ''));
  expectTokenError(right, 'invalid_grant');
  for (const answer of [wrong, right])
    expect(Object.keys(documentOf(answer))).toEqual(['error', 'error_description']);
});
