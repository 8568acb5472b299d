import type { FastifyRequest } from 'fastify';
import type { Context } from '../../flows/common/context.ts';
import type { Texts } from '../../languages/languages.ts';
import type { RightTexts } from '../../languages/rights.ts';
import { memoize } from '../../rules/common/memoize.ts';
import { ACCOUNT_PATH, languageOf } from '../browser/language.ts';

/** A page's language and texts, and the operator's own words. */
export interface PageLocale
  extends RightTexts,
    Pick<Context, 'brand' | 'furtherLimits' | 'provider' | 'timeZone'> {}

export function pageLocaleOf(request: FastifyRequest): PageLocale {
  const language = languageOf(request);
  const { brand, catalogue, directory, furtherLimits, provider, timeZone } = request.server.context;
  const { texts } = language;
  return { brand, catalogue, directory, furtherLimits, provider, timeZone, language, texts };
}

/** The host of a redirect URI, or the scheme of an application on the device. */
export const displayHostOf = memoize((redirectUri: string) => {
  const { host, protocol } = new URL(redirectUri);
  return host === '' || !/^https?:$/.test(protocol) ? protocol.slice(0, -1) : host;
});

export interface Link {
  readonly href: string;
  readonly text: string;
  readonly inNewTab?: boolean;
}

export function accountLink({ account }: Texts): Link {
  return { href: ACCOUNT_PATH, text: account.see };
}

/** Where passwords are changed: of the provider only its page in `BRAND` is known. */
export function passwordLinks(
  { brand, provider, texts: { security } }: PageLocale,
  hasPaymentPassword: boolean,
) {
  const text = hasPaymentPassword ? security.changePaymentPassword : security.setPaymentPassword;
  const payment = { href: '/oauth/account/payment-password', text };
  if (provider === null) return [{ href: '/oauth/account/password', text: security.changePassword }, payment];
  const there = brand.support?.password;
  return [
    ...(there ? [{ href: there, text: security.changePassword }] : []),
    ...(hasPaymentPassword && provider.paymentAcr === null ? [payment] : []),
  ];
}
