import type { IncomingHttpHeaders } from 'node:http';
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WARNING_DAYS } from '../../flows/account/warnings.ts';
import { isLanguage, type Language } from '../../languages/languages.ts';
import { KNOWN_DEVICE_SECONDS } from '../../rules/common/lifetimes.ts';

const LANGUAGE_SECONDS = 365 * 24 * 60 * 60;

/** A page may be looked at for a while before it is answered or reloaded. */
const OUTCOME_SECONDS = 10 * 60;

/** Our cookies: name, age and contents. Those without an age end with the browser. */
const COOKIES = {
  /** The signed-in session: 32 random bytes in base64url (`flows/signIn/signIn.ts`). Rows have their SHA-256. */
  session: { name: 'session' },
  /** The pre-login session, to which sign-in forms are tied: a signed random value (`flows/signIn/session.ts`). */
  preLogin: { name: 'visit' },
  /** The users whose passwords were right in this browser: a signed payload each (`flows/signIn/device.ts`). Kept after sign-out. */
  device: { name: 'device', maxAge: KNOWN_DEVICE_SECONDS },
  paymentDevice: { name: 'payment_device', maxAge: KNOWN_DEVICE_SECONDS },
  /** The language chosen on a page: its tag (`languageIn`), with a dot behind it where that was in another browser of the user. */
  language: { name: 'language', maxAge: LANGUAGE_SECONDS },
  /** The warnings seen and the sessions begun in this browser, by user (`flows/signIn/seenWarnings.ts`). */
  seen: { name: 'seen', maxAge: WARNING_DAYS * 24 * 60 * 60 },
  /** The outcome of the last form and a digest of its request (`outcomes.ts`), as `toJsonCookie` writes them. */
  outcome: { name: 'outcome', maxAge: OUTCOME_SECONDS },
};

type Cookie = keyof typeof COOKIES;

/** Our cookies as the browser sent them; null for each that it did not send. */
export function readCookies({ cookies, server }: FastifyRequest) {
  const { baseUrl } = server.context;
  const read = (cookie: Cookie) => cookies[wireName(baseUrl, cookie)] ?? null;
  const language = read('language');
  return {
    /** Only one that was chosen in this browser. */
    language: isLanguage(language) ? language : null,
    session: read('session'),
    preLogin: read('preLogin'),
    device: read('device'),
    paymentDevice: read('paymentDevice'),
    seen: read('seen'),
    outcome: read('outcome'),
  };
}

export function setCookie(reply: FastifyReply, cookie: Cookie, value: string): void {
  const { baseUrl } = reply.server.context;
  const { name: _name, ...age } = COOKIES[cookie];
  reply.setCookie(wireName(baseUrl, cookie), value, { ...optionsFor(baseUrl), ...age });
}

export function clearCookie(reply: FastifyReply, cookie: Cookie): void {
  const { baseUrl } = reply.server.context;
  reply.clearCookie(wireName(baseUrl, cookie), optionsFor(baseUrl));
}

/** `SameSite=Lax` is said explicitly: browsers treat a cookie without it differently. */
function optionsFor(baseUrl: string): CookieSerializeOptions {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isHttps(baseUrl) };
}

const PREFIX = 'assent_';
const HOST_PREFIX = `__Host-${PREFIX}`;

/** `__Host-` keeps other hosts of the domain from setting it; browsers take the prefix over https only. */
function wireName(baseUrl: string, cookie: Cookie): string {
  return (isHttps(baseUrl) ? HOST_PREFIX : PREFIX) + COOKIES[cookie].name;
}

/** Browsers speak to us over TLS, with or without a proxy between. */
export function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith('https:');
}

const LANGUAGE = new RegExp(`(?:^|; *)(?:${HOST_PREFIX}|${PREFIX})${COOKIES.language.name}=(\\w+)`);

/** From the header, under either name: pages for paths that no route takes have a language too. Null for none of ours. */
export function languageIn({ cookie }: IncomingHttpHeaders): Language | null {
  const tag = LANGUAGE.exec(cookie ?? '')?.[1];
  return isLanguage(tag) ? tag : null;
}

/** One that a user brought along from another browser is not for the next user of this one. */
export function forgetKeptLanguage(reply: FastifyReply): void {
  const { headers } = reply.request;
  if (languageIn(headers) !== null && readCookies(reply.request).language === null)
    clearCookie(reply, 'language');
}

/** A cookie that is worth words and nothing else, so that it needs no signature. */
export function toJsonCookie(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** The values of {@link toJsonCookie}; none for any other text. */
export function fromJsonCookie(cookie: string): unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cookie, 'base64url').toString());
    return Array.isArray(values) ? values : [];
  } catch {
    return [];
  }
}
