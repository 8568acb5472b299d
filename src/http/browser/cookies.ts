import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../flows/context.ts';
import { WARNING_DAYS } from '../../flows/warnings.ts';
import { KNOWN_DEVICE_SECONDS } from '../../rules/lifetimes.ts';

/** Chosen once, and kept for a year after. */
const LANGUAGE_SECONDS = 365 * 24 * 60 * 60;

/** A page may be looked at for a while before it is answered or reloaded. */
const OUTCOME_SECONDS = 10 * 60;

/** Our cookies, by what the code calls them. Those without an age end with the browser. */
const COOKIES = {
  /** Who is signed in. */
  session: { name: 'session' },
  /** The pre-login session: which browser a sign-in form was shown to. */
  preLogin: { name: 'visit' },
  /** Whose passwords, and whose payment passwords, were right in this browser. Both stay after sign-out. */
  device: { name: 'device', maxAge: KNOWN_DEVICE_SECONDS },
  paymentDevice: { name: 'payment_device', maxAge: KNOWN_DEVICE_SECONDS },
  /** The language chosen on a page. */
  language: { name: 'language', maxAge: LANGUAGE_SECONDS },
  /** What users need not be warned of in this browser: they have seen it, or did it here. Nothing older is warned of. */
  seen: { name: 'seen', maxAge: WARNING_DAYS * 24 * 60 * 60 },
  /** What came of the last form, for the page after it (`outcomes.ts`). */
  outcome: { name: 'outcome', maxAge: OUTCOME_SECONDS },
};

type Cookie = keyof typeof COOKIES;

/** Our cookies as the browser sent them; null for each that it did not send. */
export function readCookies(
  request: FastifyRequest,
  { baseUrl }: Context,
): Record<Exclude<Cookie, 'language'>, string | null> {
  const read = (cookie: Cookie) => request.cookies[wireName(baseUrl, cookie)] ?? null;
  return {
    session: read('session'),
    preLogin: read('preLogin'),
    device: read('device'),
    paymentDevice: read('paymentDevice'),
    seen: read('seen'),
    outcome: read('outcome'),
  };
}

/** Sets a cookie of this browser. */
export function setCookie(reply: FastifyReply, { baseUrl }: Context, cookie: Cookie, value: string): void {
  const { name: _name, ...age } = COOKIES[cookie];
  reply.setCookie(wireName(baseUrl, cookie), value, { ...optionsFor(baseUrl), ...age });
}

/** Takes a cookie from the browser. */
export function clearCookie(reply: FastifyReply, { baseUrl }: Context, cookie: Cookie): void {
  reply.clearCookie(wireName(baseUrl, cookie), optionsFor(baseUrl));
}

/** `SameSite=Lax` is said explicitly: browsers treat a cookie without it differently. */
function optionsFor(baseUrl: string): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps(baseUrl) };
}

/** `__Host-` keeps other hosts of the domain from setting it; browsers take the prefix over https only. */
function wireName(baseUrl: string, cookie: Cookie): string {
  const { name } = COOKIES[cookie];
  return isHttps(baseUrl) ? `__Host-assent_${name}` : `assent_${name}`;
}

/** Whether browsers speak to us over TLS, with or without a proxy between. */
export function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}
