import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../flows/context.ts';
import {
  isLanguage,
  type Language,
  preferredLanguage,
  TEXTS,
  type Texts,
} from '../../languages/languages.ts';
import { AUTHORIZATION_PARAMETERS } from '../../rules/authorizationRequest.ts';
import { Parameters } from '../../rules/parameters.ts';
import { bodyParameters, queryParameters } from '../parameters.ts';
import { setCookie } from './cookies.ts';
import { isFromOwnPage } from './forms.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The language that the form of this very request chose. */
    chosenLanguage: Language | null;
    /** The fields of limits that the consent form of this request has. */
    limitFields?: readonly string[];
  }
}

/** The form on every page that shows it in another language: where it posts to, and its hidden fields. */
export interface LanguageForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The language that was chosen on a page of ours before, else the one that the browser prefers. */
export function languageOf({
  headers,
  chosenLanguage,
}: Pick<FastifyRequest, 'headers' | 'chosenLanguage'>): Language {
  return chosenLanguage ?? cookieLanguage(headers) ?? preferredLanguage(headers['accept-language']);
}

/** The texts of a page that answers this request. */
export function textsOf(request: FastifyRequest): Texts {
  return TEXTS[languageOf(request)];
}

/** Under either of its names (`cookies.ts`): pages for paths that no route takes have a language too. */
function cookieLanguage({ cookie }: IncomingHttpHeaders): Language | null {
  const tag = /(?:^|; *)(?:__Host-)?assent_language=(\w+)/.exec(cookie ?? '')?.[1];
  return isLanguage(tag) ? tag : null;
}

/** Keeps the language that a form of ours chose, and answers in it. */
export function chooseLanguage(
  request: FastifyRequest,
  reply: FastifyReply,
  context: Context,
  form: Parameters,
): void {
  const tag = form.get('language');
  if (!isLanguage(tag) || !isFromOwnPage(request, context)) return;
  request.chosenLanguage = tag;
  setCookie(reply, context, 'language', tag);
}

/**
 * The form for another language on the page that answers `request`. It leads back to that page, whose address is encoded:
 * no error page repeats what was sent. A page that says what was decided before has no address, but deciding again is the
 * same decision, so it posts that once more. Where nothing was decided (another status), another language decides nothing
 * either.
 */
export function languageForm(request: FastifyRequest, status: number): LanguageForm {
  if (request.routeOptions?.url !== '/consent' || status !== 200) {
    return { action: '/language', fields: { back: Buffer.from(pageAddress(request)).toString('base64url') } };
  }
  const form = bodyParameters(request);
  const names = ['request', 'decision_token', 'decision', ...(request.limitFields ?? [])];
  return { action: '/consent', fields: fieldsOf(form, names) };
}

/** A longer address would not come back in a form. */
const MAX_ADDRESS_CHARACTERS = 8_000;

/** The path and query of a page: of itself or, after a post, of the request that it belongs to. */
export function pageAddress(request: FastifyRequest): string {
  try {
    const address = addressOf(request);
    if (address.length <= MAX_ADDRESS_CHARACTERS && isPathOfOurs(address)) return address;
  } catch {
    // Too many parameters, which is what this very page says.
  }
  return '/account';
}

function addressOf(request: FastifyRequest): string {
  const { method, routeOptions, raw } = request;
  if (method === 'GET') return raw.url ?? '';
  const form = bodyParameters(request);
  if (routeOptions?.url === '/oauth/authorize') {
    const sent = [queryParameters(request), form].map((parameters) =>
      parameters.only(AUTHORIZATION_PARAMETERS),
    );
    return `/oauth/authorize?${sent.filter(Boolean).join('&')}`;
  }
  const { request: carried } = fieldsOf(form, ['request']);
  // Too long to lead back to is too long to be taken apart.
  if (carried === undefined || carried.length > MAX_ADDRESS_CHARACTERS) return '';
  return `/oauth/authorize?${new Parameters(carried).only(AUTHORIZATION_PARAMETERS)}`;
}

/** The path and query that the form leads back to; null for what is none of ours, whoever made it. */
export function addressBehind(form: Parameters): string | null {
  const address = Buffer.from(form.get('back') ?? '', 'base64url').toString();
  return isPathOfOurs(address) ? address : null;
}

/** Whether it is an address of ours, in a link as well. */
function isPathOfOurs(address: string): boolean {
  return /^\/(?!\/)[\x21-\x7e]*$/.test(address);
}

/** Fields of a form, as far as they can be read: an error page has this form too. */
function fieldsOf(form: Parameters, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(form.only(names)));
}
