import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PROVIDER_SIGN_IN_MS } from '../../../rules/common/lifetimes.ts';
import { hexOf, sha256 } from '../../../secrets/digest.ts';
import type { Context } from '../../common/context.ts';
import { refused } from './user.ts';

// The secrets of each sign-in travel in a signed cookie of its own; nothing is stored before the user is known.

/** A sign-in that began in this browser and whose code has not come yet, as in its cookie. */
export interface PendingSignIn extends Readonly<Record<'state' | 'nonce' | 'verifier', string>> {
  readonly stage: 'pending';
  readonly at: number;
  /** The canonical query of the request to continue; null without one. */
  readonly query: string | null;
  /** The page of the account to continue with; absent for the first one, and in an earlier build's cookie. */
  readonly page?: string | undefined;
  /** The signed decision that the provider confirms; null if the user signs in. */
  readonly decision: string | null;
  /** Of an operator's sign-in; absent for a user's, which has one address. */
  readonly redirectUri?: string;
}

/** Its code came: it only leads back to its request. */
type UsedSignIn = Omit<PendingSignIn, 'stage' | 'nonce' | 'verifier'> & { readonly stage: 'used' };

/** Without a stage in an earlier build's cookie, which counts as pending: the provider refuses a used code. */
export type ProviderSignIn = PendingSignIn | UsedSignIn;

export function cookieOf(
  { keyRing }: Pick<Context, 'keyRing'>,
  signIn: ProviderSignIn,
): [name: string, value: string] {
  return [nameOf(signIn.state), keyRing.sign('provider', deflateRawSync(JSON.stringify(signIn)))];
}

export function toUsedSignIn({ state, at, query, page, decision }: ProviderSignIn): UsedSignIn {
  return { stage: 'used', state, at, query, page, decision };
}

export const nameOf = (state: string): string => hexOf(sha256(state)).slice(0, 16);

/** The sign-in with this state; null for none, or a late one. @param cookie null for none */
export function findProviderSignIn(
  { keyRing }: Pick<Context, 'keyRing'>,
  state: string,
  cookie: string | null,
): ProviderSignIn | null {
  const payload = keyRing.verify('provider', cookie ?? '')?.payload;
  const signIn: ProviderSignIn | null = payload ? JSON.parse(inflateRawSync(payload).toString()) : null;
  return signIn?.state === state && Date.now() - signIn.at < PROVIDER_SIGN_IN_MS ? signIn : null;
}

/** Like {@link findProviderSignIn}. @param cookie null if the browser sent none at all @throws {OAuthError} for none */
export function readProviderSignIn(context: Context, state: string, cookie: string | null): ProviderSignIn {
  const signIn = findProviderSignIn(context, state, cookie);
  if (signIn !== null) return signIn;
  const ruleId = cookie === null ? 'sign_in_no_cookies' : 'sign_in_lost';
  throw refused(ruleId, 'this browser has no pending sign-in with this state from the last 10 minutes');
}
