import * as openid from 'openid-client';
import { AuthorizationCode } from 'simple-oauth2';
import { s256 } from '../../src/secrets/digest.ts';
import type { TestServer } from '../support/server.ts';
import type { Caller } from './callers.ts';

// Client libraries of others behind one interface, each used as its own manual says.

/** An application remembers this between its request and the answer. */
export interface Attempt {
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  /** Null without PKCE. */
  readonly verifier: string | null;
}

export interface Application {
  urlOf(attempt: Attempt): Promise<string>;
  finish(attempt: Attempt, answer: URL): Promise<openid.TokenEndpointResponse>;
  revoke(accessToken: string): Promise<unknown>;
}

export interface Library {
  readonly name: string;
  connect(server: TestServer, caller: Caller): Promise<Application>;
  /** The code of OAuth 2.0 that one of the library's errors carries, or the error if the server answered other than 400. */
  codeOf(error: unknown): unknown;
}

const openidAuthentication = {
  client_secret_post: openid.ClientSecretPost,
  client_secret_basic: openid.ClientSecretBasic,
  none: openid.None,
};

function discover(server: TestServer, { id, secret, authentication }: Caller): Promise<openid.Configuration> {
  const method = openidAuthentication[authentication](secret);
  return openid.discovery(new URL(server.baseUrl), id, undefined, method, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests], // the servers of the tests speak plain HTTP
  });
}

/** Finds the endpoints by itself, and compares `state`. */
export const openidClient: Library = {
  name: 'openid-client',
  async connect(server, caller) {
    const configuration = await discover(server, caller);
    return {
      async urlOf({ redirectUri, scope, state, verifier }) {
        const parameters = { redirect_uri: redirectUri, scope, state, ...challengeOf(verifier) };
        return openid.buildAuthorizationUrl(configuration, parameters).href;
      },
      async finish({ state, verifier }, answer) {
        const proof = verifier === null ? {} : { pkceCodeVerifier: verifier };
        return openid.authorizationCodeGrant(configuration, answer, { expectedState: state, ...proof });
      },
      revoke: (token) => openid.tokenRevocation(configuration, token),
    };
  },
  codeOf(error) {
    if (error instanceof openid.AuthorizationResponseError) return error.error;
    return error instanceof openid.ResponseBodyError && error.status === 400 ? error.error : error;
  },
};

/** Introspects a token as a resource server, by the same library. */
export async function introspectAs(server: TestServer, resource: Caller, token: string): Promise<object> {
  return openid.tokenIntrospection(await discover(server, resource), token);
}

/** Has a payment judged, by the same library: the answer is that of introspection, at another address. */
export async function spendAs(
  { baseUrl }: TestServer,
  { id, secret }: Caller,
  token: string,
  payment: Record<string, string>,
): Promise<object> {
  const metadata = { issuer: baseUrl, introspection_endpoint: `${baseUrl}/oauth/spend` };
  const configuration = new openid.Configuration(metadata, id, undefined, openid.ClientSecretBasic(secret));
  openid.allowInsecureRequests(configuration);
  return openid.tokenIntrospection(configuration, token, payment);
}

/** Builds the URL and makes the calls; reading the answer, `state` and PKCE are left to the application. */
export const simpleOauth2: Library = {
  name: 'simple-oauth2',
  async connect(server, { id, secret, authentication }) {
    const client = new AuthorizationCode({
      client: { id, secret },
      auth: { tokenHost: server.baseUrl },
      options: { authorizationMethod: authentication === 'client_secret_basic' ? 'header' : 'body' },
    });
    return {
      async urlOf({ redirectUri, scope, state, verifier }) {
        return client.authorizeURL({ redirect_uri: redirectUri, scope, state, ...challengeOf(verifier) });
      },
      async finish({ redirectUri, state, verifier }, answer) {
        const { code, error, ...rest } = Object.fromEntries(answer.searchParams);
        if (rest.state !== state) throw new Error('this answer was not asked for');
        if (code === undefined) throw new AnswerError(error);
        const proof = verifier === null ? {} : { code_verifier: verifier };
        const { token } = await client.getToken({ code, redirect_uri: redirectUri, ...proof });
        return token as unknown as openid.TokenEndpointResponse;
      },
      revoke: (token) => client.createToken({ access_token: token }).revoke('access_token'),
    };
  },
  codeOf(error) {
    if (error instanceof AnswerError) return error.message;
    const { data, output } = error as {
      output?: { statusCode: number };
      data?: { payload?: { error: unknown } };
    };
    return output?.statusCode === 400 ? data?.payload?.error : error;
  },
};

class AnswerError extends Error {}

function challengeOf(verifier: string | null): Record<string, string> {
  if (verifier === null) return {};
  return { code_challenge: s256(verifier), code_challenge_method: 'S256' };
}
