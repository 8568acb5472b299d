import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Session } from '../../flows/signIn/session.ts';
import { type Texts, withValues } from '../../languages/languages.ts';
import type { AuthorizationRequest } from '../../rules/request/authorizationRequest.ts';
import { queryParameters } from '../request/parameters.ts';
import { clearCookie, hasOurCookies, readCookie, setCookie } from './cookies.ts';
import { isFromOwnPage } from './forms.ts';
import { textsOf } from './language.ts';

// Each form is answered by a 303, so that Back and reload send nothing again. Its outcome waits in an unsigned cookie for the next
// page, until a form went well or its time is over. Refusals without any effect are pages of their own: 400, 403, 409, 500, 503.

/** An outcome that a page says above its contents. */
export type OutcomeMessageKey = keyof Texts['outcomes']['on'];

/** A page's request, or the path of a page of the account; null for the sign-in page before those. */
export type OutcomeTarget = AuthorizationRequest | string | null;

/** Said while a wait runs, so the page has status 429. */
const WAITS: readonly string[] = ['too_many_tries', 'too_many_decisions', 'not_stopped'];

/** A user may read a request for a while before answering it; all else must not seem new when its page comes again. */
const [REQUEST_SECONDS, OTHER_SECONDS] = [10 * 60, 60];
/** A page that comes late, after a wait of a second, still says why. */
const LATE_SECONDS = 10;

/** Proxies accept 8 KB of cookies, browsers 4 KB of one. */
const MAX_COOKIE_CHARACTERS = 2_000;

/** @param seconds to keep it @param form the path of the form whose page alone shows it @param typed forgotten if too long */
export interface OutcomeOptions {
  readonly seconds?: number;
  readonly form?: string | undefined;
  readonly typed?: readonly string[];
}

/** A form from another site leads to a page without an outcome: its author chose the moment. */
export function rememberOutcome(
  reply: FastifyReply,
  outcome: string,
  subject: OutcomeTarget,
  more: OutcomeOptions = {},
): void {
  if (!isFromOwnPage(reply.request)) return;
  const usual = more.form || typeof subject === 'string' ? OTHER_SECONDS : REQUEST_SECONDS;
  const { form, seconds: maxAge = usual, typed = [] } = more;
  const content = [outcome, digestOf(subject, form), Date.now() + maxAge * 1000];
  const whole = encoded([...content, ...typed]);
  const value = whole.length > MAX_COOKIE_CHARACTERS ? encoded(content) : whole;
  setCookie(reply, 'outcome', value, { maxAge: maxAge + LATE_SECONDS });
}

export function forgetOutcome(reply: FastifyReply): void {
  if (readCookie(reply.request, 'outcome') !== null) clearCookie(reply, 'outcome');
}

/** Sets the page's status during a wait. @returns the outcome, what was typed, and the seconds until its end; null for none */
export function lastOutcome(reply: FastifyReply, subject: OutcomeTarget, form?: string) {
  const cookie = readCookie(reply.request, 'outcome');
  if (cookie === null) return null;
  try {
    const [outcome, digest, until, ...typed] = JSON.parse(Buffer.from(cookie, 'base64url').toString());
    const left = Math.ceil((until - Date.now()) / 1000);
    if (digest !== digestOf(subject, form) || !(left > -LATE_SECONDS)) return null;
    const seconds = Math.min(Math.max(1, left), REQUEST_SECONDS * 2);
    const last = { outcome: String(outcome), typed: typed.map(String), seconds };
    if (WAITS.includes(outcome)) reply.code(429).header('retry-after', seconds);
    return last;
  } catch {
    return null; // none of ours
  }
}

function encoded(content: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** The cookie must not reveal the request. */
function digestOf(subject: OutcomeTarget, form = ''): string {
  const page = typeof subject === 'string' ? subject : (subject?.canonicalQuery ?? '');
  return hash('sha256', `${form} ${page}`, 'base64url');
}

/** The outcome of the previous form for a signed-in user, on a page without an error; null for none. */
export function noteOn(
  reply: FastifyReply,
  subject: OutcomeTarget,
  { name, login }: Pick<Session['user'], 'name' | 'login'>,
) {
  const last = lastOutcome(reply, subject);
  const notes = textsOf(reply.request).outcomes.on;
  const client = subject !== null && typeof subject === 'object' ? subject.client.name : '';
  return last !== null && isKeyOf(notes, last.outcome)
    ? withValues(notes[last.outcome], { client, name, login })
    : null;
}

/** The cookie may have any text. */
export function isKeyOf<T extends object>(texts: T, outcome: string): outcome is keyof T & string {
  return Object.hasOwn(texts, outcome);
}

export function signInNote(reply: FastifyReply, subject: OutcomeTarget): string | null {
  const { request } = reply;
  const { signIn, outcomes } = textsOf(request);
  const { outcome = '' } = lastOutcome(reply, subject) ?? {};
  const wasGivenCookie = queryParameters(request).only(['cookie']) === COOKIE_CHECK;
  if (wasGivenCookie && !hasOurCookies(request))
    return signIn.cookiesOff({ host: new URL(request.server.context.baseUrl).hostname });
  if (isKeyOf(outcomes.atSignIn, outcome)) return outcomes.atSignIn[outcome];
  return readCookie(request, 'session') === null ? null : signIn.sessionOver;
}

/** Query parameter after a form without our cookies, whose response set one: if still missing, the browser rejects cookies. */
export const COOKIE_CHECK = 'cookie=given';
