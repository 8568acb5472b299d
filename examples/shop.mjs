// The authorization code flow with openid-client: `npm install openid-client`. Run it with ASSENT_URL, CLIENT_ID and, for a client
// with a secret, CLIENT_SECRET in the environment; register it for http://localhost:8080/callback.

import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import * as client from 'openid-client';

const { ASSENT_URL, CLIENT_ID, CLIENT_SECRET, PORT = '8080' } = process.env;
const { REDIRECT_URI = `http://localhost:${PORT}/callback` } = process.env;

const config = await client.discovery(new URL(ASSENT_URL), CLIENT_ID, CLIENT_SECRET || undefined, undefined, {
  algorithm: 'oauth2',
  execute: ASSENT_URL.startsWith('http://') ? [client.allowInsecureRequests] : [], // to try it without TLS
});

/** State and verifier by the browser's session. In production: your session store, with an expiry. */
const attempts = new Map();

const pages = {
  async '/'() {
    return { body: '<a href="/connect">Connect my account</a>' };
  },

  async '/connect'() {
    const session = randomUUID();
    const attempt = { state: client.randomState(), verifier: client.randomPKCECodeVerifier() };
    attempts.set(session, attempt);
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'account-info payment-shop.limit(7,5000)',
      state: attempt.state,
      code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    const cookie = `shop_session=${session}; Path=/; HttpOnly; SameSite=Lax`;
    return { status: 302, headers: { location: url.href, 'set-cookie': cookie } };
  },

  async '/callback'(request) {
    const session = /(?:^|; )shop_session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const attempt = attempts.get(session);
    const answer = new URL(REDIRECT_URI);
    answer.search = new URL(request.url, REDIRECT_URI).search;
    if (!attempt || answer.searchParams.get('state') !== attempt.state) {
      return { status: 400, body: 'No request is open. <a href="/">Start again</a>' };
    }
    attempts.delete(session); // before the exchange: a reload must not repeat it
    try {
      const token = await client.authorizationCodeGrant(config, answer, {
        expectedState: attempt.state,
        pkceCodeVerifier: attempt.verifier,
      });
      await save(token.access_token);
      return { body: 'Your account is connected.' };
    } catch (error) {
      if (error.error === 'access_denied') return { body: 'You said no. <a href="/">Change your mind</a>' };
      console.error(error.code, error.error, error.error_description);
      return { status: 400, body: 'That didn’t work. <a href="/">Start again</a>' };
    }
  },
};

/** In production: encrypted, in your database, with the user it belongs to. */
async function save(accessToken) {
  await writeFile('access-token', accessToken, { mode: 0o600 });
}

createServer(async (request, response) => {
  const page = pages[new URL(request.url, REDIRECT_URI).pathname] ?? (async () => ({ status: 404 }));
  const { status = 200, headers, body = '' } = await page(request);
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);
}).listen(Number(PORT), 'localhost', () => console.log(`Open http://localhost:${PORT}/`));
