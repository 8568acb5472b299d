import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestedAccess } from '../../flows/authorize.ts';
import type { Context } from '../../flows/context.ts';
import { TEXTS, type Texts } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/authorizationRequest.ts';
import { MAX_LOGIN_CHARACTERS } from '../../rules/limits.ts';
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
export function rememberOutcome(
  reply: FastifyReply,
  context: Context,
  outcome: Outcome,
  about: About,
  login = '',
): void {
  if (!isFromOwnPage(reply.request, context)) return;
  const kept = [outcome, nameOf(about), login.length <= MAX_LOGIN_CHARACTERS ? login : ''];
  setCookie(reply, context, 'outcome', Buffer.from(JSON.stringify(kept)).toString('base64url'));
}

/** Forgets it, when a form went well. */
export function forgetOutcome(reply: FastifyReply, context: Context): void {
  if (readCookies(reply.request, context).outcome !== null) clearCookie(reply, context, 'outcome');
}

/** What came of the last form about this request, with the login that was typed; null when nothing has to be said. */
function lastOutcome(
  request: FastifyRequest,
  context: Context,
  about: About,
): { readonly outcome: Outcome; readonly login: string } | null {
  const [outcome, name, login] = readJson(readCookies(request, context).outcome);
  if (typeof outcome !== 'string' || !isOutcome(outcome) || name !== nameOf(about)) return null;
  return { outcome, login: typeof login === 'string' ? login.slice(0, MAX_LOGIN_CHARACTERS) : '' };
}

function isOutcome(name: string): name is Outcome {
  return Object.hasOwn(TEXTS.en.outcomes.on, name);
}

function readJson(encoded: string | null): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded ?? '', 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** Short, since it is compared with requests of the same browser only. */
function nameOf(about: About): string {
  return createHash('sha256')
    .update(about?.canonicalQuery ?? '')
    .digest('base64url')
    .slice(0, 16);
}

/** What a page of a request says of the form that was sent before it; null for nothing. */
export function requestNote(
  request: FastifyRequest,
  context: Context,
  { authorizationRequest, user }: RequestedAccess,
): string | null {
  const last = lastOutcome(request, context, authorizationRequest);
  if (last === null) return null;
  return textsOf(request).outcomes.on[last.outcome](authorizationRequest.client.name, user.name, user.login);
}

/** What the sign-in page says before anything was typed on it, and the login that was typed on the one before. */
export function signInNote(
  request: FastifyRequest,
  context: Context,
  about: About,
): { readonly login: string; readonly undone: string | null } {
  const { signIn, outcomes } = textsOf(request);
  const last = lastOutcome(request, context, about);
  const { outcome = null, login = '' } = last ?? {};
  const say = (undone: string | null) => ({ login, undone });
  if (keepsNoCookies(request, context)) return say(signIn.cookiesOff(new URL(context.baseUrl).hostname));
  if (outcome === 'not_signed_in') return say(outcomes.not_signed_in);
  if (outcome === 'not_confirmed' || outcome === 'not_decided') return say(outcomes.sessionOver);
  return say(readCookies(request, context).session === null ? null : signIn.sessionOver);
}

/** In the address of the page after a form that came without our cookie: the answer to it had one. */
export const COOKIE_CHECK = 'cookie=given';

function keepsNoCookies(request: FastifyRequest, context: Context): boolean {
  const wasGiven = queryParameters(request).only(['cookie']) === COOKIE_CHECK;
  return wasGiven && Object.values(readCookies(request, context)).every((cookie) => cookie === null);
}
