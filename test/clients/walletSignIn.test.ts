import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { s256 } from '../../src/secrets/digest.ts';
import { codeOf, decide, introspect, press, requestOf } from '../support/flow.ts';
import { Agent, type Answer } from '../support/http/agent.ts';
import { basic, exchange, expectToken } from '../support/http/tokenRequests.ts';
import { ledger, newSecret } from '../support/ledger.ts';
import { startProgram } from '../support/process/program.ts';
import { freePort, startServer } from '../support/server.ts';
import { goOn, leaveFor } from '../support/wallet.ts';
import { environment, exampleFile } from './examples.ts';

// examples/walletSignIn.mjs, as a process of its own, signs users of Assent in and confirms their payments.

const port = await freePort();
const issuer = `http://localhost:${port}`;
const [clientId, clientSecret] = ['assent', 'a secret: 5e0f_7b0a~4c1f/4d6e+9c7b=e0f2%'];
ledger.note('client secret', clientSecret);
const provider = { issuer, clientId, clientSecret, paymentAcr: 'payment', createsUsers: true };
const server = await startServer({ provider });
const variables = { ISSUER: issuer, PORT: String(port), CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
const wallet = await startProgram([process.execPath, exampleFile('walletSignIn.mjs')], port, {
  env: environment({ ...variables, BASE_URL: server.baseUrl }),
});
afterAll(async () => {
  await wallet.stop('SIGTERM');
  await server.close();
});

const client = await server.createClient();
const resource = await server.createResource();
const ANNA = { login: 'anna', password: 'gQ7-anna-4x2Lw' };
const BORIS = { login: 'boris', password: 'Tn3-boris-9k6Zd' };
const REFUSED = '{"error":"invalid_grant"}';
const SPENDING = { scope: 'account-info payment-shop.limit(7,1500)' };

let agent: Agent;
beforeEach(() => {
  agent = new Agent(server.baseUrl);
});

/** Fills in the wallet's form, to which one of our pages leads. @returns the page after it */
async function fillIn(from: Answer | string, fields: Record<string, string>): Promise<Answer> {
  const address = await leaveFor({ issuer }, agent, from);
  expect((await agent.get(address)).forms).toHaveLength(1);
  return goOn({ issuer }, agent, await agent.post(address, fields));
}

const ask = (fields: Record<string, string> = {}) =>
  agent.post('/oauth/authorize', requestOf(client, fields));

describe('the example identity provider', () => {
  it('signs a user in, whose external_id a payment API gets by introspection', async () => {
    const consent = await fillIn(await ask(), ANNA);
    expect([consent.page, consent.text.includes('Anna Petrova')]).toEqual(['consent', true]);
    const code = codeOf(await decide(agent, consent, 'allow'));
    const token = expectToken(await exchange(server, client, code));
    expect(await introspect(server, resource, token)).toMatchObject({ active: true, external_id: '1001' });
  });

  it('recognises its users, and refuses wrong passwords', async () => {
    expect((await fillIn('/oauth/account', BORIS)).text).toContain('Boris Ivanov');
    agent = new Agent(server.baseUrl);
    const address = await leaveFor({ issuer }, agent, '/oauth/account');
    const again = await agent.post(address, { ...BORIS, password: 'wrong' });
    expect([again.status, again.location, again.forms.length]).toEqual([200, null, 1]);
    expect((await goOn({ issuer }, agent, await agent.post(address, BORIS))).text).toContain('Boris Ivanov');
    const { rows } = await server.database.pool.query(`select from users where external_id = '1002'`);
    expect(rows).toHaveLength(1);
  });

  it('confirms a payment for the signed-in user only', async () => {
    const consent = await fillIn(await ask(SPENDING), ANNA);
    expect(consent.page).toBe('consent');
    const allowed = await press(agent, consent, 'allow');
    const address = await leaveFor({ issuer }, agent, allowed);
    expect(address).toMatch(/acr_values=payment/);
    const { text } = await agent.get(address);
    expect(text).toMatch(
      /Test Shop may spend up to RUB 1500 in any 7 days ?by payment-shop: RUB 1500 in any 7 days/,
    );
    for (const authorization_details of ['{', 'null', '[7]', '<script>']) {
      const query = new URLSearchParams({ authorization_details });
      expect((await agent.get(`${issuer}/authorize?${query}`)).status).toBe(200);
    }
    const refused = await fillIn(allowed, BORIS);
    expect([refused.status, refused.page]).toEqual([400, 'error']);
    expect((await agent.get('/oauth/account')).text).toContain('Anna Petrova');
    const answer = await fillIn(await press(agent, consent, 'allow'), ANNA);
    expect(codeOf(answer)).toMatch(/^assent_ac_/);
  });

  it('issues an ID token once per code, only to Assent and for the right code_verifier', async () => {
    const address = new URL(await leaveFor({ issuer }, agent, '/oauth/account'));
    const verifier = newSecret();
    address.searchParams.set('code_challenge', s256(verifier));
    const newCode = async () => codeOf(await agent.post(address.href, ANNA));
    const right = basic('assent', encodeURIComponent(clientSecret));
    const idTokenFor = async (code: string, headers = right, code_verifier = verifier) =>
      (await agent.post(`${issuer}/token`, { code, code_verifier }, headers)).body;
    for (const authorization of ['', 'Basic', 'Basic JQ==', basic('assent', 'wrong').authorization ?? ''])
      expect(await idTokenFor(await newCode(), { authorization })).toBe(REFUSED);
    expect(await idTokenFor(await newCode(), right, `${verifier}x`)).toBe(REFUSED);
    const code = await newCode();
    expect(await idTokenFor(code)).toContain('"id_token"');
    expect(await idTokenFor(code)).toBe(REFUSED);
  });
});
