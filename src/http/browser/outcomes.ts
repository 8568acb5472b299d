import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestedAccess } from '../../flows/authorize/authorize.ts';
import { TEXTS, type Texts } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { queryParameters } from '../request/parameters.ts';
import { clearCookie, readCookies, setCookie } from './cookies.ts';
import { isFromOwnPage } from './forms.ts';
import { textsOf } from './language.ts';

// The previous form's outcome, in an unsigned cookie: the next page of the same request explains its return.

export type Outcome = keyof Texts['outcomes']['on'];

const OUTCOMES = Object.keys(TEXTS.en.outcomes.on) as Outcome[];

/** A page's request; null for the account page. */
type About = AuthorizationRequest | null;

/** A form from another site leads to a page without a note: its author chose the moment. */
export function rememberOutcome(reply: FastifyReply, outcome: Outcome, about: About): void {
  if (!isFromOwnPage(reply.request)) return;
  setCookie(reply, 'outcome', cookieOf(outcome, digestOf(about)));
}

export function forgetOutcome(reply: FastifyReply): void {
  if (readCookies(reply.request).outcome !== null) clearCookie(reply, 'outcome');
}

function lastOutcome(request: FastifyRequest, about: About): Outcome | null {
  const kept = readCookies(request).outcome;
  if (kept === null) return null;
  const digest = digestOf(about);
  return OUTCOMES.find((outcome) => cookieOf(outcome, digest) === kept) ?? null;
}

function cookieOf(outcome: Outcome, digest: string): string {
  return Buffer.from(JSON.stringify([outcome, digest])).toString('base64url');
}

/** The cookie must not reveal the request. */
function digestOf(about: About): string {
  return hash('sha256', about?.canonicalQuery ?? '', 'base64url');
}

export function requestNote(
  request: FastifyRequest,
  { authorizationRequest, user }: RequestedAccess,
): string | null {
  const outcome = lastOutcome(request, authorizationRequest);
  if (outcome === null) return null;
  return textsOf(request).outcomes.on[outcome](authorizationRequest.client.name, user.name, user.login);
}

/** The note on a sign-in page before any input. */
export function signInNote(request: FastifyRequest, about: About): string | null {
  const { signIn, outcomes } = textsOf(request);
  const outcome = lastOutcome(request, about);
  if (keepsNoCookies(request)) return signIn.cookiesOff(new URL(request.server.context.baseUrl).hostname);
  if (outcome === 'not_signed_in') return outcomes.not_signed_in;
  if (outcome === 'not_confirmed' || outcome === 'not_decided') return outcomes.sessionOver;
  return readCookies(request).session === null ? null : signIn.sessionOver;
}

/** Query parameter after a form without our cookies, whose response set one: if still missing, the browser rejects cookies. */
export const COOKIE_CHECK = 'cookie=given';

function keepsNoCookies(request: FastifyRequest): boolean {
  const wasGiven = queryParameters(request).only(['cookie']) === COOKIE_CHECK;
  return wasGiven && Object.values(readCookies(request)).every((cookie) => cookie === null);
}
