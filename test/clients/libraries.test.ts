import { expect, it } from 'vitest';
import { Agent } from '../support/http/agent.ts';
import { newSecret } from '../support/ledger.ts';
import { useServer } from '../support/server.ts';
import { type Caller, callerOf, decideAt } from './callers.ts';
import { type Application, type Attempt, introspectAs, openidClient, simpleOauth2 } from './libraries.ts';

// openid-client, of which oauth4webapi is a part, also introspects the tokens.
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
  // This library can also send no secret as an empty one in the header.
  { ...PUBLIC, library: simpleOauth2, authentication: 'client_secret_basic' as const },
  // The redirect URI has another port.
  ...LIBRARIES.map((library) => ({ ...PUBLIC, library, authentication: 'none' as const, oauth21: true })),
];

const server = await useServer();
const resource = callerOf(await server.createResource());
const user = await server.createUser();
const agent = new Agent(server.baseUrl);

function newAttempt(pkce: boolean, redirectUri: string): Attempt {
  return { redirectUri, scope: SCOPE, state: newSecret(), verifier: pkce ? newSecret() : null };
}

async function answerTo(application: Application, attempt: Attempt, decision: 'allow' | 'reject' = 'allow') {
  return decideAt(agent, await application.urlOf(attempt), user, decision);
}

const told = (token: string) => introspectAs(server, resource, token);

it.each([...ROWS, ...MORE].map((row) => ({ oauth21: false, ...row })))(
  '$library.name gets and revokes a token, and reads all error codes (authentication: $authentication, PKCE: $pkce, confidential: $verified, OAuth 2.1: $oauth21)',
  async ({ library, authentication, pkce, verified, oauth21 }) => {
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
    const active = { active: true, client_id: clientId, scope: SCOPE, money_sources: ['wallet', 'card'] };
    expect(await told(token.access_token)).toMatchObject(active);
    expect(await errorOf(finish(answer))).toBe('invalid_grant');
    expect(await told(token.access_token)).toEqual({ active: false });

    const { access_token } = await finish(await answerTo(application, attempt));
    expect(await told(access_token)).toMatchObject(active);
    await application.revoke(access_token);
    expect(await told(access_token)).toEqual({ active: false });
  },
);
