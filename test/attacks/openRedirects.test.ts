import { describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { obtainToken, requestOf } from '../support/flow.ts';
import { expectErrorPage } from '../support/pages.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { type Fields, formTo, linkTo, open } from './browsers.ts';

// An attacker wants us to send the browser of the victim somewhere: as an error, silently, or after a form of ours.

const server = await useServer();

const victim = await server.createUser({ paymentPassword: null });
const browser = new Agent(server.baseUrl);

/** An application that the victim has a live token for. */
async function knownClient(): Promise<TestClient> {
  const client = await server.createClient({ redirectUri: 'https://shop.example/cb' });
  await obtainToken(browser, client, victim);
  return client;
}

describe('a request that is wrong in another way', () => {
  it('sends the browser nowhere: neither to the attacker nor to the registered address', async () => {
    const client = await knownClient();
    const wrongs: Fields[] = [
      { scope: 'make-coffee' },
      { scope: '' },
      { response_type: 'token' },
      { response_type: 'id_token token' },
      { client_id: 'nobody' },
      { code_challenge: 'x', code_challenge_method: 'plain' },
      { instance_name: 'x'.repeat(256) },
      { state: 'x'.repeat(7000) },
    ];
    for (const wrong of wrongs) {
      for (const redirect_uri of ['https://evil.example/', client.redirectUri]) {
        for (const extra of [
          {},
          { prompt: 'none' },
          { response_mode: 'fragment', error_uri: 'https://evil.example/' },
        ]) {
          const answer = await browser.get(linkTo(requestOf(client, { redirect_uri, ...wrong, ...extra })));
          expect([answer.status, answer.page, answer.location]).toEqual([400, 'error', null]);
          expect(answer.body).not.toContain('evil.example');
          expect(answer.headers.get('refresh')).toBeNull();
        }
      }
    }
  });

  it('asks the user and answers to no foreign address, although prompt=none is sent', async () => {
    const client = await knownClient();
    for (const agent of [browser, new Agent(server.baseUrl)]) {
      const foreign = requestOf(client, { prompt: 'none', redirect_uri: 'https://evil.example/' });
      expectErrorPage(await agent.get(linkTo(foreign)), 'invalid_request');
    }
    const own = linkTo(requestOf(client, { prompt: 'none' }));
    expect((await browser.get(own)).page).toBe('consent');
    expect((await new Agent(server.baseUrl).get(own)).page).toBe('sign-in');
  });
});

describe('the way back after a form of our own', () => {
  it('leads to our own address only, whatever the form and the URL say', async () => {
    const client = await knownClient();
    const evil = [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      '/\t/evil.example',
      'javascript:alert(1)',
    ];
    for (const address of evil) {
      const stranger = new Agent(server.baseUrl);
      const page = await open(stranger, client);
      const form = formTo(page, '/sign-in');
      const query = ['next', 'return_to', 'redirect', 'rd', 'url', 'continue', 'redirect_uri']
        .map((name) => `${name}=${encodeURIComponent(address)}`)
        .join('&');
      const typed = { login: victim.login, password: victim.password };
      const signedIn = await stranger.post(`${form.action}?${query}`, { ...form.fields, ...typed });
      expect(signedIn.location).toBe(`${server.baseUrl}/oauth/authorize?${form.fields.request}`);
      const carried = await stranger.post(form.action, { ...form.fields, ...typed, request: address });
      expectErrorPage(carried, 'invalid_request');
      const account = await stranger.get(`/account?${query}`);
      expect(account.page).toBe('account');
      const signOut = formTo(account, '/sign-out');
      const left = await stranger.post(`${signOut.action}?${query}`, signOut.fields);
      expect(left.location).toBe(`${server.baseUrl}/account`);
    }
  });
});
