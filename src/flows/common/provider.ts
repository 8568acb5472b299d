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
}

interface ProviderClient {
  readonly openid: typeof openidClient;
  readonly configuration: openidClient.Configuration;
}

/** The provider doesn't answer: users can't sign in, and everything else works. */
export class ProviderAwayError extends Error {
  override readonly name = 'ProviderAwayError';

  constructor(error: unknown) {
    super(`SIGN_IN_ISSUER does not answer as it should: ${reasonOf(error)}`, { cause: error });
  }
}

/** The innermost cause: a fixed sentence of the library, or of the network; not V8's on JSON, which quotes the answer. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const { cause, message } = error;
  return cause instanceof Error && !(cause instanceof SyntaxError) ? reasonOf(cause) : message;
}

const FRESH_MS = 60 * 60 * 1000;
/** One request to the provider: two of them fit into `ANSWER_MS`. */
const REQUEST_SECONDS = 3;

/** Asks for the provider's metadata on first use and each hour; a failed first request is repeated with the next use. */
export function openProvider(settings: ProviderSettings): Provider {
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
  return { issuer, paymentAcr, createsUsers, client };
}

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<ProviderClient> {
  const openid = await import('openid-client'); // for those only who use it
  const url = new URL(issuer);
  const overHttp = url.protocol === 'http:' && isLoopback(url.hostname) ? [openid.allowInsecureRequests] : [];
  const options = { execute: overHttp, timeout: REQUEST_SECONDS };
  const found = await openid.discovery(url, clientId, clientSecret, openid.None(), options);
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_basic') ? 'ClientSecretBasic' : 'ClientSecretPost';
  const configuration = new openid.Configuration(
    found.serverMetadata(),
    clientId,
    clientSecret,
    openid[authenticate](clientSecret),
  );
  configuration.timeout = REQUEST_SECONDS;
  for (const set of [...overHttp, openid.enableNonRepudiationChecks]) set(configuration); // also checks signatures
  return { openid, configuration };
}
