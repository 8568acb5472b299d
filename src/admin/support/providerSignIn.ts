import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Provider } from '../../flows/common/provider.ts';
import { redeemProviderCode } from '../../flows/signIn/provider/answer.ts';
import type { AdminRoles } from '../../rules/account/adminRoles.ts';
import { OAuthError, OperatorError } from '../../rules/common/error.ts';
import { PROVIDER_SIGN_IN_MS } from '../../rules/common/lifetimes.ts';
import { s256 } from '../../secrets/digest.ts';
import type { KeyRing } from '../../secrets/keyRing.ts';

/** The OpenID provider of operators, and the roles that its claim gives. */
export interface OperatorSignIn {
  readonly provider: Provider;
  readonly roles: AdminRoles;
}

export const OPERATOR_CALLBACK = '/support/sign-in/callback';

/** A sign-in that has begun in this browser, as in its cookie. */
interface Pending extends Readonly<Record<'state' | 'nonce' | 'verifier' | 'redirectUri' | 'back', string>> {
  readonly at: number;
}

/** Where the values of a session's claim come from. */
export const claimSourceOf = ({ provider, roles }: OperatorSignIn) => `${provider.issuer} ${roles.claim}`;

/** @param origin of these pages, as the browser sees it @returns the provider's page, and the cookie's value */
export async function beginProviderSignIn(
  { provider, roles }: OperatorSignIn,
  keyRing: KeyRing,
  origin: string,
  back: string,
) {
  const { openid, configuration } = await provider.client();
  const pending: Pending = {
    state: openid.randomState(),
    nonce: openid.randomNonce(),
    verifier: openid.randomPKCECodeVerifier(),
    redirectUri: origin + OPERATOR_CALLBACK,
    back,
    at: Date.now(),
  };
  const { scopes_supported: scopes = [] } = configuration.serverMetadata();
  const location = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: pending.redirectUri,
    scope: ['openid', 'profile', ...scopes.filter((scope) => scope === roles.claim)].join(' '),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: s256(pending.verifier),
    code_challenge_method: 'S256',
  });
  return {
    location: location.href,
    cookie: keyRing.sign('provider', deflateRawSync(JSON.stringify(pending))),
  };
}

/**
 * Completes a sign-in. @param query of the provider's answer, with its question mark @param cookie null for none
 * @returns whose session it gives, and where the operator goes on
 * @throws {OperatorError} if the answer is of another browser's sign-in, or gives no role; {@link ProviderAwayError}
 */
export async function finishProviderSignIn(
  signIn: OperatorSignIn,
  keyRing: KeyRing,
  query: string,
  cookie: string | null,
) {
  const { provider, roles } = signIn;
  const payload = keyRing.verify('provider', cookie ?? '')?.payload;
  const pending: Partial<Pending> = payload ? JSON.parse(inflateRawSync(payload).toString()) : {};
  const { state, nonce = '', verifier = '', redirectUri, at = 0, back = '' } = pending;
  const isOurs = redirectUri !== undefined && new URLSearchParams(query).get('state') === state;
  if (!isOurs || state === undefined || Date.now() - at > PROVIDER_SIGN_IN_MS)
    throw new OperatorError('invalid_token', 'No sign-in began in this browser in the last ten minutes.');
  const asked = { stage: 'pending', state, nonce, verifier, at, query: null, decision: null } as const;
  const answer = new URL(redirectUri + query);
  const claims = await redeemProviderCode(provider, asked, answer, (exchange) => exchange()).catch(
    (error: unknown) => {
      if (!(error instanceof OAuthError)) throw error;
      throw new OperatorError('invalid_token', `The sign-in failed: ${error.rule}.`);
    },
  );
  if (claims === null) throw new OperatorError('invalid_token', 'You did not sign in there.');
  const said: Readonly<Record<string, unknown>> = claims;
  const given = [said[roles.claim]]
    .flat()
    .filter((value) => typeof value === 'string')
    .filter((value) => roles.byValue.has(value));
  if (given.length === 0)
    throw new OperatorError(
      'not_permitted',
      `Your account has no role here: ADMIN_ROLES gives one by the claim ${roles.claim}.`,
    );
  const name = [said.preferred_username, said.email, said.sub].find((one) => typeof one === 'string');
  return { owner: { operator: `${name}`, source: claimSourceOf(signIn), given }, back };
}
