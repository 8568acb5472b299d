import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { introspect, obtainToken } from '../support/flow.ts';
import { Agent } from '../support/http/agent.ts';
import { useServer } from '../support/server.ts';
import { isLive } from '../support/state.ts';
import { type Caller, callerOf, decideAt } from './callers.ts';
import { type Application, type Attempt, introspectAs, openidClient, simpleOauth2 } from './libraries.ts';

// oauth4webapi is what openid-client is made of.
const LIBRARIES = [openidClient, simpleOauth2];

const REDIRECT_URI = 'http://127.0.0.1:9/callback';
const SCOPE = 'account-info payment-shop.limit(7,5000) money-source("wallet","card")';
const THREE_YEARS_SECONDS = [94_608_000, 94_694_400]; // with and without a leap day

/** Verified with the secret in the form or in the header, and unverified, each with PKCE and without. */
const ROWS = LIBRARIES.flatMap((library) =>
  (['client_secret_post', 'client_secret_basic', 'none'] as const).flatMap((authentication) =>
    [false, true].map((pkce) => ({ library, authentication, pkce, verified: authentication !== 'none' })),
  ),
);
const PUBLIC = { pkce: true, verified: false };
const MORE = [
  // With this library an empty secret in the header is a way of its own to have none.
  { ...PUBLIC, library: simpleOauth2, authentication: 'client_secret_basic' as const },
  // At a port that its system chooses.
  ...LIBRARIES.map((library) => ({ ...PUBLIC, library, authentication: 'none' as const, oauth21: true })),
];

const server = await useServer();
const resource = await server.createResource();
const user = await server.createUser();
const agent = new Agent(server.baseUrl);

const randomText = () => randomBytes(32).toString('base64url');

function newAttempt(pkce: boolean, redirectUri: string): Attempt {
  return { redirectUri, scope: SCOPE, state: randomText(), verifier: pkce ? randomText() : null };
}

async function answerTo(application: Application, attempt: Attempt, decision: 'allow' | 'reject' = 'allow') {
  return decideAt(agent, await application.urlOf(attempt), user, decision);
}

const isActive = (token: string) => isLive(server, resource, token);

it.each<(typeof ROWS)[number] & { oauth21?: boolean }>([...ROWS, ...MORE])(
  '$library.name obtains, replays and revokes a token, and reads each error: $authentication, PKCE: $pkce, verified: $verified, OAuth 2.1: $oauth21',
  async ({ library, authentication, pkce, verified, oauth21 = false }) => {
    const registered = { redirectUri: REDIRECT_URI, verified, oauth21 };
    const { clientId, clientSecret } = await server.createClient(registered);
    const caller: Caller = { id: clientId, secret: clientSecret ?? '', authentication };
    const wrong = verified ? { secret: 'f'.repeat(64) } : { id: 'f'.repeat(32) };
    const application = await library.connect(server, caller);
    const impostor = await library.connect(server, { ...caller, ...wrong });
    const attempt = newAttempt(pkce, oauth21 ? REDIRECT_URI.replace(':9/', ':51234/') : REDIRECT_URI);
    const finish = (answer: URL, by = application) => by.finish(attempt, answer);
    const errorOf = (call: Promise<unknown>) => call.catch(library.codeOf);

    const rejection = await answerTo(application, attempt, 'reject');
    expect(rejection.href).toContain(attempt.redirectUri);
    expect(await errorOf(finish(rejection))).toBe('access_denied');
    const answer = await answerTo(application, attempt);
    expect(await errorOf(finish(answer, impostor))).toBe('unauthorized_client');
    const token = await finish(answer);
    expect(token.token_type).toBe('bearer');
    expect(THREE_YEARS_SECONDS).toContain(token.expires_in);
    const active = { active: true, client_id: clientId, scope: SCOPE };
    expect(await introspect(server, resource, token.access_token)).toMatchObject(active);
    expect(await errorOf(finish(answer))).toBe('invalid_grant');
    expect(await isActive(token.access_token)).toBe(false);

    const { access_token } = await finish(await answerTo(application, attempt));
    expect(await isActive(access_token)).toBe(true);
    await application.revoke(access_token);
    expect(await isActive(access_token)).toBe(false);
  },
);

it('openid-client shows a resource server what a token allows, and only that another is inactive', async () => {
  const token = await obtainToken(agent, await server.createClient(), user, { scope: SCOPE });
  expect(await introspectAs(server, callerOf(resource), token)).toMatchObject({
    active: true,
    username: user.login,
    scope: SCOPE,
    payment_limits: [{ right: 'payment-shop', period_days: 7, amount: '5000', currency: 'RUB' }],
    money_sources: ['wallet', 'card'],
  });
  expect(await introspectAs(server, callerOf(resource), 'nothing')).toEqual({ active: false });
});
