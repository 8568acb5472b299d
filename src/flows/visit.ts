import { randomBytes } from 'node:crypto';
import { sha256 } from '../secrets/digest.ts';
import type { Context } from './context.ts';
import type { Holder } from './formToken.ts';

const VISIT_BYTES = 16;

/**
 * A browser in which nobody is signed in yet: a signed random value in a cookie, so that a sign-in form can be told
 * from one that another site made. It writes nothing and gives no right.
 *
 * @returns the value of the cookie, and what forms are tied to
 */
export function beginVisit({ keyRing }: Context): { cookie: string; visit: Holder } {
  const cookie = keyRing.sign('visit', randomBytes(VISIT_BYTES));
  return { cookie, visit: { sessionHash: sha256(cookie) } };
}

/** The visit that a cookie names; undefined when it is none of ours. */
export function readVisit({ keyRing }: Context, cookie: string | undefined): Holder | undefined {
  if (cookie === undefined || keyRing.verify('visit', cookie) === undefined) return undefined;
  return { sessionHash: sha256(cookie) };
}
