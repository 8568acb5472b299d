import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context, Session } from '../../flows/context.ts';
import type { Guarded } from '../../flows/device.ts';
import type { Holder } from '../../flows/formToken.ts';
import { currentSession } from '../../flows/signIn.ts';
import { beginVisit, readVisit } from '../../flows/visit.ts';
import { KNOWN_DEVICE_SECONDS } from '../../rules/lifetimes.ts';

/** What the pages need beside the verbs. */
export interface Site {
  readonly context: Context;
  /** The public address, an origin without a slash at the end: the contract's {base_url}. */
  readonly baseUrl: string;
}

/** Our cookies: who is signed in, which browser a sign-in form was shown to, and whose passwords were right in it. */
type CookieName = 'session' | 'visit' | 'device' | 'payment_device';

const DEVICE_COOKIES = { password: 'device', 'payment password': 'payment_device' } as const;

/** The value of the session cookie, signed in or not. */
export function sessionCookie(request: FastifyRequest, site: Site): string | undefined {
  return readCookie(request, site, 'session');
}

/** Who is signed in in this browser. Never asked on a cross-site post: a `Lax` cookie does not come with it. */
export function sessionOf(request: FastifyRequest, site: Site): Promise<Session | undefined> {
  return currentSession(site.context, sessionCookie(request, site));
}

/** Hands the browser its new session. The visit goes on: a sign-in form in another tab stays good. */
export function setSessionCookie(reply: FastifyReply, site: Site, value: string): void {
  setCookie(reply, site, 'session', value);
}

/** Takes the session from the browser. */
export function clearSessionCookie(reply: FastifyReply, { baseUrl }: Site): void {
  reply.clearCookie(fullName(baseUrl, 'session'), optionsFor(baseUrl));
}

/** The visit of this browser, undefined when it sent no cookie of ours. */
export function visitOf(request: FastifyRequest, site: Site): Holder | undefined {
  return readVisit(site.context, readCookie(request, site, 'visit'));
}

/** The visit of this browser, begun now if there is none: several tabs share one. */
export function ensureVisit(request: FastifyRequest, reply: FastifyReply, site: Site): Holder {
  const known = visitOf(request, site);
  if (known !== undefined) return known;
  const { cookie, visit } = beginVisit(site.context);
  setCookie(reply, site, 'visit', cookie);
  return visit;
}

/** What an earlier right password left in this browser. */
export function deviceCookie(request: FastifyRequest, site: Site, guarded: Guarded): string | undefined {
  return readCookie(request, site, DEVICE_COOKIES[guarded]);
}

/** Makes the browser a known device. It stays one after sign-out. */
export function setDeviceCookie(
  reply: FastifyReply,
  { baseUrl }: Site,
  guarded: Guarded,
  value: string,
): void {
  const options = { ...optionsFor(baseUrl), maxAge: KNOWN_DEVICE_SECONDS };
  reply.setCookie(fullName(baseUrl, DEVICE_COOKIES[guarded]), value, options);
}

function readCookie(request: FastifyRequest, { baseUrl }: Site, name: CookieName): string | undefined {
  return request.cookies[fullName(baseUrl, name)];
}

function setCookie(reply: FastifyReply, { baseUrl }: Site, name: CookieName, value: string): void {
  reply.setCookie(fullName(baseUrl, name), value, optionsFor(baseUrl));
}

/** `Lax` is said aloud, since browsers treat a cookie without it differently. */
function optionsFor(baseUrl: string): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps(baseUrl) };
}

/** `__Host-` keeps other hosts of the domain from setting it; browsers take the prefix over https only. */
function fullName(baseUrl: string, name: CookieName): string {
  return isHttps(baseUrl) ? `__Host-assent_${name}` : `assent_${name}`;
}

/** Whether browsers speak to us over TLS, with or without a proxy between. */
export function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}
