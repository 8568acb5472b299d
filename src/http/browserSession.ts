import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context, Session } from '../flows/context.ts';
import { currentSession } from '../flows/signIn.ts';

/** What the pages need beside the verbs. */
export interface Site {
  readonly context: Context;
  /** The public address, an origin without a slash at the end: the contract's {base_url}. */
  readonly baseUrl: string;
}

/** The value of the session cookie, signed in or not. */
export function sessionCookie(request: FastifyRequest, { baseUrl }: Site): string | undefined {
  return request.cookies[cookieName(baseUrl)];
}

/** Who is signed in in this browser. Never asked on a cross-site post: a `Lax` cookie does not come with it. */
export function sessionOf(request: FastifyRequest, site: Site): Promise<Session | undefined> {
  return currentSession(site.context, sessionCookie(request, site));
}

/** Hands the browser its new session. `Lax` is said aloud, since browsers treat a cookie without it differently. */
export function setSessionCookie(reply: FastifyReply, { baseUrl }: Site, value: string): void {
  reply.setCookie(cookieName(baseUrl), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isHttps(baseUrl),
  });
}

/** Takes the session from the browser. */
export function clearSessionCookie(reply: FastifyReply, { baseUrl }: Site): void {
  reply.clearCookie(cookieName(baseUrl), {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: isHttps(baseUrl),
  });
}

/** `__Host-` keeps other hosts of the domain from setting it; browsers take the prefix over https only. */
function cookieName(baseUrl: string): string {
  return isHttps(baseUrl) ? '__Host-assent_session' : 'assent_session';
}

function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}
