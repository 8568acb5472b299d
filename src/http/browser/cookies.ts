import type { IncomingHttpHeaders } from 'node:http';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { WARNING_DAYS } from '../../flows/account/warnings.ts';
import type { Language, Languages } from '../../languages/languages.ts';
import { KNOWN_DEVICE_SECONDS, PROVIDER_SIGN_IN_MS } from '../../rules/common/lifetimes.ts';
import { isHttps } from '../../rules/common/network.ts';

/** A sign-in at the provider carries the request, which may be longer than a cookie (4,096 bytes): so it has pieces. */
const PIECE_CHARACTERS = 3_800;
const PIECES = ['', '_2', '_3'];
/** Of one browser, in several tabs. Unless one is longer, they fit the 8 KB of a proxy together with the other cookies. */
const MAX_SIGN_INS = 4;
const MAX_SIGN_INS_CHARACTERS = 6_500;
/** By one answer, which must fit a proxy, too. */
const MAX_REMOVED = 20;

/** Our cookies: docs/develop/runtime.md#cookies has their contents. Those without an age are session cookies. */
const COOKIES = {
  session: { name: 'session' },
  preLogin: { name: 'visit' },
  device: { name: 'device', maxAge: KNOWN_DEVICE_SECONDS },
  paymentDevice: { name: 'payment_device', maxAge: KNOWN_DEVICE_SECONDS },
  language: { name: 'language', maxAge: 365 * 24 * 60 * 60 },
  seen: { name: 'seen', maxAge: WARNING_DAYS * 24 * 60 * 60 },
  outcome: { name: 'outcome' },
  signIn: { name: 'sign_in', maxAge: PROVIDER_SIGN_IN_MS / 1000 },
};

type Cookie = keyof typeof COOKIES;

export function readCookie({ cookies, server }: FastifyRequest, cookie: Cookie): string | null {
  return cookies[wireName(server, cookie)] ?? null;
}

/** All of them that matter at a sign-in. */
export function readCookies(request: FastifyRequest) {
  const read = (cookie: Cookie) => readCookie(request, cookie);
  return {
    /** Only if chosen in this browser. */
    language: languageChosen(request)?.tag ?? null,
    session: read('session'),
    preLogin: read('preLogin'),
    device: read('device'),
    seen: read('seen'),
  };
}

/** @param age replaces the cookie's own `maxAge`, in seconds */
export function setCookie(reply: FastifyReply, cookie: Cookie, value: string, age = {}): void {
  const { name: _name, ...ownAge } = COOKIES[cookie];
  reply.setCookie(wireName(reply.server, cookie), value, { ...ownAge, ...age });
}

export function clearCookie(reply: FastifyReply, cookie: Cookie): void {
  reply.clearCookie(wireName(reply.server, cookie));
}

/** A sign-in's cookie; null if the browser sent no cookie of ours. */
export function readProviderSignInCookie(request: FastifyRequest, name: string): string | null {
  const { cookies, server } = request;
  const own = `${wireName(server, 'signIn')}_${name}`;
  return hasOurCookies(request) ? PIECES.map((piece) => cookies[own + piece] ?? '').join('') : null;
}

export function hasOurCookies({ cookies }: FastifyRequest): boolean {
  return Object.keys(cookies).some((name) => name.includes(PREFIX));
}

/** Sets a sign-in's cookie, and removes all but the latest others: browsers send the oldest first (RFC 6265 section 5.4). */
export function setProviderSignInCookie(reply: FastifyReply, name: string, value: string): void {
  const { cookies, server } = reply.request;
  const first = wireName(server, 'signIn');
  const own = `${first}_${name}`;
  for (const [index, piece] of PIECES.entries()) {
    const text = value.slice(index * PIECE_CHARACTERS, (index + 1) * PIECE_CHARACTERS);
    if (text !== '') reply.setCookie(own + piece, text, { maxAge: COOKIES.signIn.maxAge });
    else if (cookies[own + piece] !== undefined) reply.clearCookie(own + piece);
  }
  const others = Object.keys(cookies).filter((other) => /^[\w-]+$/.test(other) && other.startsWith(first));
  const signIns = new Set([own]);
  let characters = value.length;
  const removed = others.toReversed().filter((other) => {
    signIns.add(other.slice(0, own.length));
    characters += other.startsWith(own) ? 0 : (cookies[other]?.length ?? 0);
    return !other.startsWith(own) && (signIns.size > MAX_SIGN_INS || characters > MAX_SIGN_INS_CHARACTERS);
  });
  for (const other of removed.slice(0, MAX_REMOVED)) reply.clearCookie(other);
}

/** Options of all our cookies. `SameSite=Lax` is explicit: browsers treat a cookie without it differently. */
export function cookieOptions(baseUrl: string): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps(baseUrl) };
}

const PREFIX = 'assent_';
const HOST_PREFIX = `__Host-${PREFIX}`;

/** `__Host-` stops other hosts of the domain from setting it; browsers accept the prefix over https only. */
function wireName({ context }: FastifyInstance, cookie: Cookie): string {
  return (isHttps(context.baseUrl) ? HOST_PREFIX : PREFIX) + COOKIES[cookie].name;
}

const LANGUAGE = new RegExp(`(?:^|; *)(?:${HOST_PREFIX}|${PREFIX})${COOKIES.language.name}=([\\w-]+)`);

/** From the header, under either name: unknown paths have a page language too. Null for an unsupported one. */
export function languageIn({ cookie }: IncomingHttpHeaders, languages: Languages): Language | null {
  return languages.find(LANGUAGE.exec(cookie ?? '')?.[1]) ?? null;
}

const languageChosen = (request: FastifyRequest) =>
  request.server.context.languages.find(readCookie(request, 'language'));

/** A language that a user brought from another browser must not affect this browser's next user. */
export function forgetKeptLanguage(reply: FastifyReply): void {
  const { request, server } = reply;
  if (languageIn(request.headers, server.context.languages) !== null && !languageChosen(request))
    clearCookie(reply, 'language');
}
