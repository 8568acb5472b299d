import type { Context } from '../../flows/common/context.ts';
import type { Provider } from '../../flows/common/provider.ts';
import { redeemProviderCode } from '../../flows/signIn/provider/answer.ts';
import { leaveForProvider } from '../../flows/signIn/provider/leaving.ts';
import { cookieOf, findProviderSignIn } from '../../flows/signIn/provider/signInCookie.ts';
import type { AdminRoles } from '../../rules/account/adminRoles.ts';
import { OAuthError, OperatorError } from '../../rules/common/error.ts';

type Keys = Pick<Context, 'keyRing'>;

/** The OpenID provider of operators, and the roles that its claim gives. */
export interface OperatorSignIn {
  readonly provider: Provider;
  readonly roles: AdminRoles;
}

export const OPERATOR_CALLBACK = '/support/sign-in/callback';

/** Where the values of a session's claim come from. */
export const claimSourceOf = ({ provider, roles }: OperatorSignIn) => `${provider.issuer} ${roles.claim}`;

/** @param origin of these pages, as the browser sees it @returns the provider's page, and the cookie's value */
export async function beginProviderSignIn(
  context: Keys,
  { provider, roles }: OperatorSignIn,
  origin: string,
  page: string,
) {
  const redirectUri = origin + OPERATOR_CALLBACK;
  const { secrets, location } = await leaveForProvider(
    provider,
    redirectUri,
    ({ scopes_supported: scopes = [] }) => ({
      scope: ['openid', 'profile', ...scopes.filter((scope) => scope === roles.claim)].join(' '),
    }),
  );
  const signIn = { stage: 'pending', ...secrets, query: null, page, decision: null, redirectUri } as const;
  const [, cookie] = cookieOf(context, signIn);
  return { location, cookie };
}

/**
 * Completes a sign-in. @param query of the provider's answer, with its question mark @param cookie null for none
 * @returns whose session it gives, and the page where the operator goes on
 * @throws {OperatorError} if the answer is of another browser's sign-in, or gives no role; {@link ProviderAwayError}
 */
export async function finishProviderSignIn(
  context: Keys,
  signIn: OperatorSignIn,
  query: string,
  cookie: string | null,
) {
  const { provider, roles } = signIn;
  const begun = findProviderSignIn(context, new URLSearchParams(query).get('state') ?? '', cookie);
  if (begun?.stage !== 'pending' || begun.redirectUri === undefined)
    throw new OperatorError('invalid_token', 'No sign-in began in this browser in the last ten minutes.');
  const answer = new URL(begun.redirectUri + query);
  const redeemed = redeemProviderCode(provider, begun, answer, (exchange) => exchange());
  const claims: Readonly<Record<string, unknown>> | null = await redeemed.catch((error: unknown) => {
    if (!(error instanceof OAuthError)) throw error;
    throw new OperatorError('invalid_token', `The sign-in failed: ${error.rule}.`);
  });
  if (claims === null) throw new OperatorError('invalid_token', 'You did not sign in there.');
  const given = [claims[roles.claim]]
    .flat()
    .filter((value) => typeof value === 'string')
    .filter((value) => roles.byValue.has(value));
  if (given.length === 0)
    throw new OperatorError(
      'not_permitted',
      `Your account has no role here: ADMIN_ROLES gives one by the claim ${roles.claim}.`,
    );
  const name = [claims.preferred_username, claims.email, claims.sub].find((one) => typeof one === 'string');
  return { owner: { operator: `${name}`, source: claimSourceOf(signIn), given }, back: begun.page ?? '' };
}
