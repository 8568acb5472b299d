import { setTimeout as wait } from 'node:timers/promises';
import type * as openidClient from 'openid-client';
import { isLoopback } from '../../rules/common/network.ts';

/** The operator's own sign-in: an OpenID provider with Assent as its client (OpenID Connect Core 1.0). */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The `acr` of a sign-in that confirms a payment; null: our payment password confirms it. */
  readonly paymentAcr: string | null;
  /** True if an unknown user is registered, not refused. */
  readonly createsUsers: boolean;
}

export interface Provider extends Pick<ProviderSettings, 'issuer' | 'paymentAcr' | 'createsUsers'> {
  /** The library and its configuration, at most an hour old unless the provider is away. @throws {ProviderAwayError} */
  client(): Promise<ProviderClient>;
  readonly log: { warn(text: string): void } | undefined;
}

type ProviderClient = Awaited<ReturnType<typeof discover>>;

/** The claims of an ID token, and the access token for the others. */
export type ProviderClaims = openidClient.IDToken & { readonly accessToken: string };

/** The provider doesn't answer: users can't sign in, and everything else works. */
export class ProviderAwayError extends Error {
  override readonly name = 'ProviderAwayError';

  constructor(error: unknown) {
    super(`the OpenID provider does not respond correctly: ${describeCause(error)}`, { cause: error });
  }
}

/** The innermost cause: a fixed sentence of the library, or of the network; not V8's on JSON, which quotes the answer. */
export function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const { cause, message } = error;
  const { attribute, body } = (cause ?? {}) as { attribute?: string; body?: { issuer?: string } };
  if (attribute === 'issuer') return `the issuer in its metadata is ${body?.issuer?.slice(0, 200)}`;
  return cause instanceof Error && !(cause instanceof SyntaxError) ? describeCause(cause) : message;
}

const FRESH_MS = 60 * 60 * 1000;
/** One request to the provider: two of them fit into `ANSWER_MS`. */
const REQUEST_SECONDS = 3;
/** Of one answer, decompressed: metadata and keys have some tens of kilobytes. */
const MAX_ANSWER_BYTES = 1_000_000;

/** Asks for the provider's metadata on first use and each hour; a failed first request is repeated with the next use. */
export function openProvider(settings: ProviderSettings, log?: Provider['log']): Provider {
  let latest: { readonly at: number; readonly client: Promise<ProviderClient> } | null = null;
  const client = () => {
    const earlier = latest;
    if (earlier !== null && performance.now() - earlier.at < FRESH_MS) return earlier.client;
    const found = discover(settings).catch((error: unknown) => {
      if (earlier !== null) return earlier.client;
      latest = null;
      throw new ProviderAwayError(error);
    });
    latest = { at: performance.now(), client: found };
    return found;
  };
  const { issuer, paymentAcr, createsUsers } = settings;
  return { issuer, paymentAcr, createsUsers, client, log };
}

async function discover({ issuer, clientId, clientSecret }: ProviderSettings) {
  const openid = await import('openid-client'); // for those only who use it
  const url = new URL(issuer);
  const overHttp = url.protocol === 'http:' && isLoopback(url.hostname) ? [openid.allowInsecureRequests] : [];
  const authenticate: openidClient.ClientAuth = (server, client, body, headers) => {
    if (methodOf(server) === 'client_secret_post')
      return openid.ClientSecretPost(clientSecret)(server, client, body, headers);
    const pair = [clientId, clientSecret].map((text) =>
      new URLSearchParams({ '': text }).toString().slice(1),
    );
    headers.set('authorization', `Basic ${btoa(pair.join(':'))}`); // RFC 6749, 2.3.1; the library also encodes `-._`
  };
  const execute = [...overHttp, openid.enableNonRepudiationChecks]; // also checks signatures
  const options = { execute, timeout: REQUEST_SECONDS, [openid.customFetch]: fetchBounded };
  const configuration = await openid.discovery(url, clientId, clientSecret, authenticate, options);
  return { openid, configuration };
}

/** Our way to authenticate at the token endpoint (OpenID Connect Discovery 1.0, section 3); undefined if there is none. */
export function methodOf({ token_endpoint_auth_methods_supported: offered }: openidClient.ServerMetadata) {
  const ours = ['client_secret_basic', 'client_secret_post'];
  return ours.find((method) => (offered ?? ours).includes(method));
}

/** A request to the provider, which follows no redirect. @throws {Error} for more than {@link MAX_ANSWER_BYTES} */
export async function fetchBounded(url: string, options: object): Promise<Response> {
  const { body, status, headers } = await fetch(url, { ...options, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let left = MAX_ANSWER_BYTES;
  for await (const chunk of body ?? []) {
    left -= chunk.length;
    if (left < 0) throw new Error('its answer has more than a megabyte');
    chunks.push(chunk);
  }
  return new Response(body && Buffer.concat(chunks), { status, headers });
}

/** The claims at userinfo (OpenID Connect Core 1.0, section 5.4), none after a failure. @param until of `performance.now()` */
export function findUserInfo(provider: Provider, { sub, accessToken }: ProviderClaims, until: number) {
  const late = wait(Math.max(0, until - performance.now()), {}, { ref: false });
  const asked = provider
    .client()
    .then(({ openid, configuration: at }) => openid.fetchUserInfo(at, accessToken, sub));
  const found = asked.catch((error: unknown) => {
    provider.log?.warn(
      `userinfo failed, so a new user’s login is the sub until the next sign-in: ${describeCause(error)}`,
    );
    return {};
  });
  return Promise.race<Partial<openidClient.UserInfoResponse>>([found, late]);
}
