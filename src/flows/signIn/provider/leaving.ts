import type { ServerMetadata } from 'openid-client';
import { s256 } from '../../../secrets/digest.ts';
import type { Provider } from '../../common/provider.ts';

/**
 * Begins a sign-in: code flow with PKCE, `state` and `nonce` (OpenID Connect Core 1.0, section 3.1).
 * @returns its secrets, for a cookie, and the provider's page @throws {ProviderAwayError}
 */
export async function leaveForProvider(
  provider: Provider,
  redirectUri: string,
  parametersFor: (metadata: ServerMetadata) => Record<string, string>,
) {
  const { openid, configuration } = await provider.client();
  const secrets = {
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
    at: Date.now(),
  };
  const location = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: s256(secrets.verifier),
    code_challenge_method: 'S256',
    ...parametersFor(configuration.serverMetadata()),
  });
  return { secrets, location: location.href };
}
