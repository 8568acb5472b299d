import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { AuthorizationCode } from 'simple-oauth2';
import type { TestServer } from '../support/server.ts';
import type { Caller } from './callers.ts';

// Other people's client libraries behind one interface, each used as its own manual says.

/** What an application remembers between sending the browser away and taking its answer. */
export interface Attempt {
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  /** Null without PKCE. */
  readonly verifier: string | null;
}

/** A token as the library hands it over. */
export interface Token {
  readonly accessToken: string;
  readonly tokenType: unknown;
  readonly expiresIn: unknown;
}

/** An application that uses a library. */
export interface Application {
  /** Where it sends the user's browser. */
  urlOf(attempt: Attempt): Promise<string>;
  /** Takes the browser's answer, up to the token. */
  finish(attempt: Attempt, answer: URL): Promise<Token>;
  revoke(accessToken: string): Promise<unknown>;
}

export interface Library {
  readonly name: string;
  connect(server: TestServer, caller: Caller): Promise<Application>;
  /** The code of OAuth 2.0 that one of the library's errors carries; none if the server answered other than 400. */
  codeOf(error: unknown): unknown;
}

/** A library that finds the endpoints by itself, compares `state`, and asks about tokens. */
export interface FullLibrary extends Library {
  introspect(server: TestServer, resource: Caller, token: string): Promise<Record<string, unknown>>;
}

// The servers of the tests speak plain HTTP, which both libraries want to be told.
const plainHttp = { [oauth.allowInsecureRequests]: true };

const openidAuthentication = {
  client_secret_post: openid.ClientSecretPost,
  client_secret_basic: openid.ClientSecretBasic,
  none: openid.None,
};

function discover(server: TestServer, { id, secret, authentication }: Caller): Promise<openid.Configuration> {
  const method = openidAuthentication[authentication](secret);
  return openid.discovery(new URL(server.baseUrl), id, undefined, method, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

export const openidClient: FullLibrary = {
  name: 'openid-client',
  async connect(server, caller) {
    const configuration = await discover(server, caller);
    return {
      async urlOf({ redirectUri, scope, state, verifier }) {
        const challenge =
          verifier === null ? {} : challengeOf(await openid.calculatePKCECodeChallenge(verifier));
        const parameters = { redirect_uri: redirectUri, scope, state, ...challenge };
        return openid.buildAuthorizationUrl(configuration, parameters).href;
      },
      async finish({ state, verifier }, answer) {
        const token = await openid.authorizationCodeGrant(configuration, answer, {
          expectedState: state,
          ...(verifier === null ? {} : { pkceCodeVerifier: verifier }),
        });
        return tokenOf(token);
      },
      revoke: (token) => openid.tokenRevocation(configuration, token),
    };
  },
  async introspect(server, resource, token) {
    return await openid.tokenIntrospection(await discover(server, resource), token);
  },
  codeOf: codeOfPanva,
};

const oauthAuthentication = {
  client_secret_post: oauth.ClientSecretPost,
  client_secret_basic: oauth.ClientSecretBasic,
  none: oauth.None,
};

async function discoverBare(server: TestServer): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(server.baseUrl);
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plainHttp });
  return oauth.processDiscoveryResponse(issuer, response);
}

export const oauth4webapi: FullLibrary = {
  name: 'oauth4webapi',
  async connect(server, { id, secret, authentication }) {
    const as = await discoverBare(server);
    const client = { client_id: id };
    const method = oauthAuthentication[authentication](secret);
    return {
      async urlOf({ redirectUri, scope, state, verifier }) {
        const challenge =
          verifier === null ? {} : challengeOf(await oauth.calculatePKCECodeChallenge(verifier));
        const url = new URL(as.authorization_endpoint ?? 'metadata:without-authorization-endpoint');
        const parameters = { response_type: 'code', client_id: id, redirect_uri: redirectUri, scope, state };
        url.search = new URLSearchParams({ ...parameters, ...challenge }).toString();
        return url.href;
      },
      async finish({ redirectUri, state, verifier }, answer) {
        const parameters = oauth.validateAuthResponse(as, client, answer, state);
        const proof = verifier ?? oauth.nopkce;
        const response = await oauth.authorizationCodeGrantRequest(
          as,
          client,
          method,
          parameters,
          redirectUri,
          proof,
          plainHttp,
        );
        return tokenOf(await oauth.processAuthorizationCodeResponse(as, client, response));
      },
      async revoke(token) {
        const response = await oauth.revocationRequest(as, client, method, token, plainHttp);
        return oauth.processRevocationResponse(response);
      },
    };
  },
  async introspect(server, { id, secret, authentication }, token) {
    const as = await discoverBare(server);
    const client = { client_id: id };
    const method = oauthAuthentication[authentication](secret);
    const response = await oauth.introspectionRequest(as, client, method, token, plainHttp);
    return await oauth.processIntrospectionResponse(as, client, response);
  },
  codeOf: codeOfPanva,
};

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
        const challenge =
          verifier === null ? {} : challengeOf(createHash('sha256').update(verifier).digest('base64url'));
        return client.authorizeURL({ redirect_uri: redirectUri, scope, state, ...challenge });
      },
      async finish({ redirectUri, state, verifier }, answer) {
        const { code, error, ...rest } = Object.fromEntries(answer.searchParams);
        if (rest.state !== state) throw new Error('this answer was not asked for');
        if (code === undefined) throw new AnswerError(error);
        const proof = verifier === null ? {} : { code_verifier: verifier };
        const { token } = await client.getToken({ code, redirect_uri: redirectUri, ...proof });
        return tokenOf(token);
      },
      revoke: (token) => client.createToken({ access_token: token }).revoke('access_token'),
    };
  },
  codeOf(error) {
    if (error instanceof AnswerError) return error.code;
    const { data, output } = error as Boom;
    return output?.statusCode === 400 ? data?.payload?.error : undefined;
  },
};

/** What the library throws for an answer that is no success. */
interface Boom {
  readonly output?: { readonly statusCode: number };
  readonly data?: { readonly payload?: { readonly error?: unknown } };
}

class AnswerError extends Error {
  readonly code: string | undefined;

  constructor(code: string | undefined) {
    super(`the answer is ${code}`);
    this.code = code;
  }
}

function codeOfPanva(error: unknown): unknown {
  if (error instanceof oauth.AuthorizationResponseError) return error.error;
  return error instanceof oauth.ResponseBodyError && error.status === 400 ? error.error : undefined;
}

function challengeOf(challenge: string): Record<string, string> {
  return { code_challenge: challenge, code_challenge_method: 'S256' };
}

function tokenOf(token: Record<string, unknown>): Token {
  return {
    accessToken: String(token.access_token),
    tokenType: token.token_type,
    expiresIn: token.expires_in,
  };
}

/** @returns the code of the error that a call of the library ends in. @throws {Error} when it ends well, or in another error */
export async function refusalOf(library: Library, call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    const code = library.codeOf(error);
    if (code === undefined) throw error;
    return code;
  }
  throw new Error('it was not refused');
}
