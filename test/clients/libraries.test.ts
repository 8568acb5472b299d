import { randomBytes } from 'node:crypto';
import * as openid from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { type Authentication, type Caller, callerOf, decideAt } from './callers.ts';
import {
  type Application,
  type Attempt,
  introspectAs,
  type Library,
  openidClient,
  refusalOf,
  simpleOauth2,
} from './libraries.ts';

// oauth4webapi is what openid-client is made of.
const LIBRARIES = [openidClient, simpleOauth2];

const REDIRECT_URI = 'http://127.0.0.1:9/callback';
const SCOPE = 'account-info operation-history';
const PAYMENT_SCOPE = 'account-info payment-shop.limit(7,5000) money-source("wallet","card")';
const THREE_YEARS_SECONDS = [94_608_000, 94_694_400]; // with and without a leap day

interface Kind {
  readonly authentication: Authentication;
  readonly pkce: boolean;
}

/** Verified with the secret in the form or in the header, and unverified, each with PKCE and without. */
const KINDS: Kind[] = (['client_secret_post', 'client_secret_basic', 'none'] as const).flatMap(
  (authentication) => [false, true].map((pkce) => ({ authentication, pkce })),
);

const ROWS = LIBRARIES.flatMap((library) => KINDS.map((kind) => rowOf(library, kind)));
// With this library an empty secret in the header is a way of its own to have none.
const HEADER_WITHOUT_SECRET = {
  ...rowOf(simpleOauth2, { authentication: 'client_secret_basic', pkce: true }),
  title: 'simple-oauth2, unverified (header with an empty secret), with PKCE',
  verified: false,
};

function rowOf(library: Library, { authentication, pkce }: Kind) {
  const verified = authentication !== 'none';
  const kind = verified ? `verified (${authentication})` : 'unverified';
  const title = `${library.name}, ${kind}, ${pkce ? 'with' : 'without'} PKCE`;
  return { title, library, authentication, pkce, verified };
}

const server = await useServer();
const resource = await server.createResource();
const user = await server.createUser();
const agent = new Agent(server.baseUrl);

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function newAttempt(pkce: boolean, changes: Partial<Attempt> = {}): Attempt {
  const verifier = pkce ? randomText() : null;
  return { redirectUri: REDIRECT_URI, scope: SCOPE, state: randomText(), verifier, ...changes };
}

/** The application sends the browser, the user decides. */
async function answerTo(
  application: Application,
  attempt: Attempt,
  decision: 'allow' | 'reject' = 'allow',
): Promise<URL> {
  return decideAt(agent, await application.urlOf(attempt), user, decision);
}

async function isActive(token: string): Promise<boolean> {
  return (await introspect(server, resource, token)).active === true;
}

describe.each([...ROWS, HEADER_WITHOUT_SECRET])(
  '$title',
  ({ library, authentication, pkce, verified, title }) => {
    let client: TestClient;
    let application: Application;

    beforeAll(async () => {
      client = await server.createClient({ redirectUri: REDIRECT_URI, verified, name: title });
      application = await library.connect(server, callerWith({}));
    });

    function callerWith(changes: Partial<Caller>): Caller {
      return { id: client.clientId, secret: client.clientSecret ?? '', authentication, ...changes };
    }

    it('obtains a token after sign-in, payment password and consent', async () => {
      const attempt = newAttempt(pkce, { scope: PAYMENT_SCOPE });
      const answer = await decideAt(new Agent(server.baseUrl), await application.urlOf(attempt), user);
      const token = await application.finish(attempt, answer);
      expect(token.tokenType).toBe('bearer');
      expect(THREE_YEARS_SECONDS).toContain(token.expiresIn);
      expect(await introspect(server, resource, token.accessToken)).toMatchObject({
        active: true,
        client_id: client.clientId,
        scope: PAYMENT_SCOPE,
      });
    });

    it('reports a refusal as access_denied', async () => {
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt, 'reject');
      expect(await refusalOf(library, application.finish(attempt, answer))).toBe('access_denied');
    });

    it('reports a replay as invalid_grant, and the replay revokes its token', async () => {
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt);
      const { accessToken } = await application.finish(attempt, answer);
      expect(await isActive(accessToken)).toBe(true);
      expect(await refusalOf(library, application.finish(attempt, answer))).toBe('invalid_grant');
      expect(await isActive(accessToken)).toBe(false);
    });

    it('reports wrong credentials as unauthorized_client, and the code stays usable', async () => {
      const wrong = verified ? { secret: 'f'.repeat(64) } : { id: 'f'.repeat(32) };
      const impostor = await library.connect(server, callerWith(wrong));
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt);
      expect(await refusalOf(library, impostor.finish(attempt, answer))).toBe('unauthorized_client');
      expect(await isActive((await application.finish(attempt, answer)).accessToken)).toBe(true);
    });

    it('revokes its token', async () => {
      const attempt = newAttempt(pkce);
      const { accessToken } = await application.finish(attempt, await answerTo(application, attempt));
      await application.revoke(accessToken);
      expect(await isActive(accessToken)).toBe(false);
    });
  },
);

describe('openid-client', () => {
  it.each([
    ['a foreign state', 'another'],
    ['no state', null],
  ])('refuses a response with %s, and the code stays usable', async (_what, state) => {
    const client = await server.createClient({ redirectUri: REDIRECT_URI });
    const secret = client.clientSecret ?? '';
    const authentication = 'client_secret_post';
    const application = await openidClient.connect(server, { id: client.clientId, secret, authentication });
    const attempt = newAttempt(true);
    const answer = await answerTo(application, attempt);
    const confused = new URL(answer);
    if (state === null) confused.searchParams.delete('state');
    else confused.searchParams.set('state', state);
    const code = 'OAUTH_INVALID_RESPONSE';
    await expect(application.finish(attempt, confused)).rejects.toMatchObject({ code });
    expect(await isActive((await application.finish(attempt, answer)).accessToken)).toBe(true);
  });

  it('shows a resource server what a token allows, and only that another is inactive', async () => {
    const token = await obtainToken(agent, await server.createClient(), user, { scope: PAYMENT_SCOPE });
    expect(await introspectAs(server, callerOf(resource), token)).toMatchObject({
      active: true,
      username: user.login,
      scope: PAYMENT_SCOPE,
      payment_limits: [{ right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' }],
      money_sources: ['wallet', 'card'],
    });
    expect(await introspectAs(server, callerOf(resource), 'nothing')).toEqual({ active: false });
  });
});

describe('an OAuth 2.1 application', async () => {
  const { clientId: id } = await server.createClient({
    ...{ redirectUri: REDIRECT_URI, verified: false, oauth21: true },
  });
  const caller: Caller = { id, secret: '', authentication: 'none' };
  const redirectUri = REDIRECT_URI.replace(':9/', ':51234/');

  it.each(LIBRARIES)('obtains a token at a port chosen by its system: $name', async (library) => {
    const application = await library.connect(server, caller);
    const attempt = newAttempt(true, { redirectUri, scope: PAYMENT_SCOPE });
    const answer = await answerTo(application, attempt);
    expect(answer.host).toBe('127.0.0.1:51234');
    expect(await isActive((await application.finish(attempt, answer)).accessToken)).toBe(true);
    const rejected = newAttempt(true, { redirectUri });
    const refusal = application.finish(rejected, await answerTo(application, rejected, 'reject'));
    expect(await refusalOf(library, refusal)).toBe('access_denied');
  });

  it('may require the issuer (RFC 9207): a library refuses a response with another one or none', async () => {
    const application = await openidClient.connect(server, caller);
    const metadata = await (await fetch(`${server.baseUrl}/.well-known/oauth-authorization-server`)).json();
    const strict = { ...metadata, authorization_response_iss_parameter_supported: true };
    const configuration = new openid.Configuration(strict, id, undefined, openid.None());
    openid.allowInsecureRequests(configuration);
    const attempt = newAttempt(true, { redirectUri });
    const answer = await answerTo(application, attempt);
    const finish = (url: URL) =>
      openid.authorizationCodeGrant(configuration, url, {
        expectedState: attempt.state,
        pkceCodeVerifier: attempt.verifier ?? '',
      });
    for (const iss of ['https://another.example', `${server.baseUrl}/`, null]) {
      const confused = new URL(answer);
      if (iss === null) confused.searchParams.delete('iss');
      else confused.searchParams.set('iss', iss);
      await expect(finish(confused)).rejects.toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' });
      if (iss !== null)
        await expect(application.finish(attempt, confused)).rejects.toMatchObject({
          code: 'OAUTH_INVALID_RESPONSE',
        });
    }
    expect(await isActive((await finish(answer)).access_token)).toBe(true);
  });
});
