import type { FastifyRequest } from 'fastify';
import type { Context } from '../../flows/common/context.ts';
import { TEXTS } from '../../languages/languages.ts';
import type { RightWords } from '../../languages/rights.ts';
import { kept } from '../../rules/common/kept.ts';
import { languageOf } from '../browser/language.ts';

/** A page's language and texts, and the operator's own words. */
export interface Words extends RightWords, Pick<Context, 'brand' | 'provider' | 'timeZone'> {}

export function wordsFor(request: FastifyRequest): Words {
  const language = languageOf(request);
  const { brand, catalogue, directory, provider, timeZone } = request.server.context;
  return { brand, catalogue, directory, provider, timeZone, language, texts: TEXTS[language] };
}

/** The host of a redirect URI, or the scheme of an application on the device. */
export const describeTarget = kept((redirectUri: string) => {
  const { host, protocol } = new URL(redirectUri);
  return host === '' || !/^https?:$/.test(protocol) ? protocol.slice(0, -1) : host;
});
