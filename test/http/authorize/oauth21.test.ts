import { describe, expect, it } from 'vitest';
import { s256 } from '../../../src/secrets/digest.ts';
import { logOf } from '../../attacks/refusals.ts';
import { flowAt } from '../../contract/flowAt.ts';
import { follow } from '../../support/account.ts';
import * as flow from '../../support/flow.ts';
import { Agent, type Answer } from '../../support/http/agent.ts';
import { expectToken, expectTokenError } from '../../support/http/tokenRequests.ts';
import { newSecret } from '../../support/ledger.ts';
import { changeClient, type NewClient } from '../../support/operators.ts';
import { expectErrorPage } from '../../support/pages.ts';
import { type TestClient, useServer } from '../../support/server.ts';

// An application that is held to OAuth 2.1, beside one that is not.

const server = await useServer();
const { user, agent, reachPage, allow, reject, exchanged, live, writingNothing } = await flowAt(server, {});

const code_verifier = newSecret();
const PKCE = { code_challenge: s256(code_verifier), code_challenge_method: 'S256' };
const SPENDING = { ...PKCE, scope: 'payment-shop.limit(7,1500)' };
const ISS = `iss=${encodeURIComponent(server.baseUrl)}`;
const [REGISTERED, OTHER_PORT] = ['http://127.0.0.1:9/cb', 'http://127.0.0.1:51234/cb'];

const held = (more: Partial<NewClient> = {}) =>
  server.createClient({ oauth21: true, verified: false, redirectUri: REGISTERED, ...more });
const hold = ({ clientId }: TestClient, oauth21: boolean) =>
  changeClient(server.database.pool, clientId, { oauth21 }, 'tests');

async function expectRule(answer: Answer, rule_id: string): Promise<void> {
  expectErrorPage(answer, 'invalid_request');
  expect(await logOf(server, answer)).toMatchObject({ error: 'invalid_request', rule_id });
}

it('a request without PKCE is refused by POST and by GET, signed in or not [oauth21-1]', async () => {
  const client = await held();
  await reachPage(client, PKCE);
  await writingNothing(async () => {
    for (const fields of [{}, { code_challenge: '' }, { redirect_uri: OTHER_PORT }]) {
      const request = flow.requestOf(client, fields);
      for (const browser of [agent, new Agent(server.baseUrl)]) {
        await expectRule(await browser.post('/oauth/authorize', request), 'needs_pkce');
        const page = await browser.get(flow.linkTo(request));
        await expectRule(page, 'needs_pkce');
        expect(page.text).toMatch(/A part of the request is missing\..+Parametercode_challenge/);
      }
    }
  });
});

it.each([
  ['in the redirect', REGISTERED, PKCE, '?'],
  ['after a query of the redirect_uri', 'https://shop.example/cb?a=b', { ...PKCE, state: 's' }, '&state=s&'],
  ['after an empty query', 'https://shop.example/cb?', PKCE, ''],
  ['in the redirect from the receipt page', REGISTERED, { ...SPENDING, state: 's 1' }, '?state=s%201&'],
  ['in the redirect to a custom scheme', 'com.example.app:/cb', PKCE, '?'],
])('the issuer (iss) precedes code and error %s [oauth21-2]', async (_where, redirectUri, fields, before) => {
  const client = await held({ redirectUri });
  const allowed = await allow(client, fields);
  expect(allowed.location).toBe(`${redirectUri}${before}${ISS}&code=${flow.codeOf(allowed)}`);
  const rejected = await reject(client, fields);
  expect(rejected.location).toBe(`${redirectUri}${before}${ISS}&error=access_denied`);
});

it.each([
  ['another port', REGISTERED, OTHER_PORT],
  ['no port', REGISTERED, 'http://127.0.0.1/cb'],
  ['another port, with a query appended', REGISTERED, `${OTHER_PORT}?x=1`],
  ['another port with IPv6', 'http://[::1]/cb', 'http://[::1]:51234/cb'],
])(
  'the port of a loopback address may differ, and the exchange requires the same redirect_uri: %s [oauth21-3]',
  async (_what, redirectUri, redirect_uri) => {
    for (const fields of [PKCE, SPENDING]) {
      const client = await held({ redirectUri, verified: fields === SPENDING });
      const allowed = await allow(client, { ...fields, redirect_uri });
      const separator = redirect_uri.includes('?') ? '&' : '?';
      expect(allowed.location).toMatch(`${redirect_uri}${separator}${ISS}&code=`);
      const code = flow.codeOf(allowed);
      const present = (uri?: string) => exchanged(client, code, { code_verifier, redirect_uri: uri });
      const another = redirect_uri.replace('51234', '51235').replace('1/cb', '1:8/cb');
      for (const wrong of [redirectUri, another, undefined])
        expectTokenError(await present(wrong), 'invalid_request');
      expect(await live(expectToken(await present(redirect_uri)))).toBe(true);
    }
  },
);

describe('changing the OAuth 2.1 setting of an application', () => {
  it.each([true, false])(
    'invalidates open consent, payment password and receipt pages (new value: %s)',
    async (oauth21) => {
      const client = await held({ oauth21: !oauth21 });
      const page = await reachPage(client, { ...PKCE, state: 'old' });
      const spending = await reachPage(client, SPENDING);
      const asked = await follow(agent, await flow.press(agent, spending, 'allow'));
      const app = await held({ oauth21: !oauth21, redirectUri: 'com.example.app:/cb' });
      const receipt = await flow.press(agent, await reachPage(app, PKCE), 'allow');
      expect(flow.leadsTo(receipt, '/oauth/receipt')).toBe(true);
      for (const one of [client, app]) await hold(one, oauth21);
      const answers = await writingNothing(async () => [
        await flow.press(agent, page, 'allow'),
        await flow.press(agent, page, 'reject'),
        await flow.confirm(agent, asked, user.paymentPassword),
        await agent.get(receipt.location ?? ''),
        await agent.get((receipt.location ?? '').replace('/oauth/receipt?', '/oauth/return?')),
      ]);
      for (const answer of answers) expect(flow.leadsTo(answer, '/oauth/authorize')).toBe(true);
      const again = await flow.decide(agent, await follow(agent, answers[0] as Answer), 'allow');
      expect(again.location).toMatch(`${REGISTERED}?state=old&${oauth21 ? `${ISS}&` : ''}code=`);
    },
  );

  it.each([
    ['turned on, without PKCE', false, {}, 'needs_pkce'],
    ['turned off, at another port', true, { ...PKCE, redirect_uri: OTHER_PORT }, 'redirect_uri_unregistered'],
  ])('makes an open page an error: %s', async (_what, oauth21, fields, rule) => {
    const client = await held({ oauth21 });
    const page = await reachPage(client, fields);
    await hold(client, !oauth21);
    for (const decision of ['allow', 'reject'] as const)
      await expectRule(await flow.press(agent, page, decision), rule);
  });
});
