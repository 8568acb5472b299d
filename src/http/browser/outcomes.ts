import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestedAccess } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { TEXTS, type Texts } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { queryParameters } from '../parameters.ts';
import { clearCookie, readCookies, setCookie } from './cookies.ts';
import { isFromOwnPage } from './forms.ts';
import { textsOf } from './language.ts';

// What came of the form that a browser sent last, in a cookie: the page of the same request says it, so that nobody wonders
// why a page came again. It is worth words and nothing else, so nobody signs it.

/** What came of a form, where the page that follows has to say it. */
export type Outcome = keyof Texts['outcomes']['on'];

/** The request that a page belongs to; null for the account page. */
type About = AuthorizationRequest | null;

/** Notes what came of a form of ours. One from elsewhere leads to a page without a word: whoever made it chose the moment. */
export function rememberOutcome(reply: FastifyReply, context: Context, outcome: Outcome, about: About): void {
  if (!isFromOwnPage(reply.request, context)) return;
  const kept = JSON.stringify([outcome, digestOf(about)]);
  setCookie(reply, context, 'outcome', Buffer.from(kept).toString('base64url'));
}

/** Forgets it, when a form went well. */
export function forgetOutcome(reply: FastifyReply, context: Context): void {
  if (readCookies(reply.request, context).outcome !== null) clearCookie(reply, context, 'outcome');
}

/** What came of the last form about this request; null when nothing has to be said. */
function lastOutcome(request: FastifyRequest, context: Context, about: About): Outcome | null {
  const kept = readCookies(request, context).outcome;
  if (kept === null) return null;
  const [outcome, digest] = readJson(kept);
  return isOutcome(outcome) && digest === digestOf(about) ? outcome : null;
}

function isOutcome(name: unknown): name is Outcome {
  return typeof name === 'string' && Object.hasOwn(TEXTS.en.outcomes.on, name);
}

function readJson(encoded: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** The cookie tells nothing of the request to whoever finds it. */
function digestOf(about: About): string {
  const query = about?.canonicalQuery ?? '';
  return createHash('sha256').update(query).digest('base64url');
}

/** What a page of a request says of the form that was sent before it; null for nothing. */
export function requestNote(
  request: FastifyRequest,
  context: Context,
  { authorizationRequest, user }: RequestedAccess,
): string | null {
  const outcome = lastOutcome(request, context, authorizationRequest);
  if (outcome === null) return null;
  return textsOf(request).outcomes.on[outcome](authorizationRequest.client.name, user.name, user.login);
}

/** What the sign-in page says before anything was typed on it; null for nothing. */
export function signInNote(request: FastifyRequest, context: Context, about: About): string | null {
  const { signIn, outcomes } = textsOf(request);
  const outcome = lastOutcome(request, context, about);
  if (keepsNoCookies(request, context)) return signIn.cookiesOff(new URL(context.baseUrl).hostname);
  if (outcome === 'not_signed_in') return outcomes.not_signed_in;
  if (outcome === 'not_confirmed' || outcome === 'not_decided') return outcomes.sessionOver;
  return readCookies(request, context).session === null ? null : signIn.sessionOver;
}

/** In the address of the page after a form that came without our cookie: the answer to it had one. */
export const COOKIE_CHECK = 'cookie=given';

function keepsNoCookies(request: FastifyRequest, context: Context): boolean {
  const wasGiven = queryParameters(request).only(['cookie']) === COOKIE_CHECK;
  return wasGiven && Object.values(readCookies(request, context)).every((cookie) => cookie === null);
}
