import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { Agent } from '../support/agent.ts';
import { introspect } from '../support/flow.ts';
import { type TestClient, useServer } from '../support/server.ts';
import { type Authentication, type Caller, callerOf, decideAt } from './callers.ts';
import {
  type Application,
  type Attempt,
  type Library,
  oauth4webapi,
  openidClient,
  refusalOf,
  simpleOauth2,
} from './libraries.ts';

const LIBRARIES = [openidClient, oauth4webapi, simpleOauth2];
const FULL_LIBRARIES = [openidClient, oauth4webapi];

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

    async function obtain(): Promise<string> {
      const attempt = newAttempt(pkce);
      return (await application.finish(attempt, await answerTo(application, attempt))).accessToken;
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

    it('learns of a refusal as access_denied', async () => {
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt, 'reject');
      expect(await refusalOf(library, application.finish(attempt, answer))).toBe('access_denied');
    });

    it('learns of a replay as invalid_grant, and the replay costs it the token', async () => {
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt);
      const { accessToken } = await application.finish(attempt, answer);
      expect(await isActive(accessToken)).toBe(true);
      expect(await refusalOf(library, application.finish(attempt, answer))).toBe('invalid_grant');
      expect(await isActive(accessToken)).toBe(false);
    });

    it('learns of wrong credentials as unauthorized_client, and the code stays usable', async () => {
      const wrong = verified ? { secret: 'f'.repeat(64) } : { id: 'f'.repeat(32) };
      const impostor = await library.connect(server, callerWith(wrong));
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt);
      expect(await refusalOf(library, impostor.finish(attempt, answer))).toBe('unauthorized_client');
      expect(await isActive((await application.finish(attempt, answer)).accessToken)).toBe(true);
    });

    it('gives its token back', async () => {
      const token = await obtain();
      await application.revoke(token);
      expect(await isActive(token)).toBe(false);
    });
  },
);

describe.each(ROWS.filter(({ pkce }) => pkce))(
  'PKCE with $title',
  ({ library, authentication, verified, title }) => {
    it.each([
      ['a wrong verifier', true, { verifier: randomText() }],
      ['no verifier where a challenge was sent', true, { verifier: null }],
      ['a verifier where no challenge was sent', false, { verifier: randomText() }],
    ])('refuses %s with invalid_grant, and the code stays usable', async (_case, pkce, wrong) => {
      const client = await server.createClient({ redirectUri: REDIRECT_URI, verified, name: title });
      const caller = { id: client.clientId, secret: client.clientSecret ?? '', authentication };
      const application = await library.connect(server, caller);
      const attempt = newAttempt(pkce);
      const answer = await answerTo(application, attempt);
      const refused = application.finish({ ...attempt, ...wrong }, answer);
      expect(await refusalOf(library, refused)).toBe('invalid_grant');
      expect(await isActive((await application.finish(attempt, answer)).accessToken)).toBe(true);
    });
  },
);

describe.each(FULL_LIBRARIES)('$name', (library) => {
  let client: TestClient;
  let caller: Caller;
  let application: Application;

  beforeAll(async () => {
    client = await server.createClient({ redirectUri: REDIRECT_URI });
    const secret = client.clientSecret ?? '';
    caller = { id: client.clientId, secret, authentication: 'client_secret_post' };
    application = await library.connect(server, caller);
  });

  async function obtain(scope: string): Promise<string> {
    const attempt = newAttempt(true, { scope });
    return (await application.finish(attempt, await answerTo(application, attempt))).accessToken;
  }

  it('takes no answer with a foreign state, and the code stays usable', async () => {
    const attempt = newAttempt(true);
    const answer = await answerTo(application, attempt);
    const confused = application.finish({ ...attempt, state: 'another' }, answer);
    await expect(confused).rejects.toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' });
    expect(await isActive((await application.finish(attempt, answer)).accessToken)).toBe(true);
  });

  it('takes no answer without the state that it sent', async () => {
    const attempt = newAttempt(true);
    const answer = await answerTo(application, attempt);
    answer.searchParams.delete('state');
    await expect(application.finish(attempt, answer)).rejects.toMatchObject({
      code: 'OAUTH_INVALID_RESPONSE',
    });
  });

  it('tells a resource what a token allows', async () => {
    const token = await obtain(PAYMENT_SCOPE);
    const answer = await library.introspect(server, callerOf(resource), token);
    expect(answer).toMatchObject({
      active: true,
      client_id: client.clientId,
      username: user.login,
      sub: user.userId,
      scope: PAYMENT_SCOPE,
      payment_limits: [{ right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' }],
      money_sources: ['wallet', 'card'],
    });
  });

  it('tells a resource of a token that is none only that', async () => {
    expect(await library.introspect(server, callerOf(resource), 'nothing')).toEqual({ active: false });
  });
});
