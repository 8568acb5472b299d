import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PROVIDER_SIGN_IN_MS } from '../../../rules/common/lifetimes.ts';
import { hexOf, sha256 } from '../../../secrets/digest.ts';
import type { Context } from '../../common/context.ts';
import { refused } from './user.ts';

// The secrets of each sign-in travel in a signed cookie of its own; nothing is stored before the user is known.

/** A sign-in that began in this browser, as in its cookie. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  /** Empty after its code came: then it only leads back to its request. */
  readonly verifier: string;
  readonly at: number;
  /** The canonical query of the request to continue; null for the account page. */
  readonly query: string | null;
  /** The signed decision that the provider confirms; null if the user signs in. */
  readonly decision: string | null;
}

export function cookieOf({ keyRing }: Context, begun: PendingSignIn): [name: string, value: string] {
  return [nameOf(begun.state), keyRing.sign('provider', deflateRawSync(JSON.stringify(begun)))];
}

export const nameOf = (state: string): string => hexOf(sha256(state)).slice(0, 16);

/** The sign-in with this state. @param cookie null if the browser sent none at all @throws {OAuthError} for none, or a late one */
export function readPendingSignIn({ keyRing }: Context, state: string, cookie: string | null): PendingSignIn {
  const payload = keyRing.verify('provider', cookie ?? '')?.payload;
  const begun: PendingSignIn | null = payload ? JSON.parse(inflateRawSync(payload).toString()) : null;
  if (begun?.state === state && Date.now() - begun.at < PROVIDER_SIGN_IN_MS) return begun;
  const ruleId = cookie === null ? 'sign_in_no_cookies' : 'sign_in_lost';
  throw refused(ruleId, 'this browser has no pending sign-in with this state from the last 10 minutes');
}
