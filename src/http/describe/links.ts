import type { Texts } from '../../languages/languages.ts';
import type { Words } from './describe.ts';

export interface Link {
  readonly href: string;
  readonly text: string;
  readonly inNewTab?: boolean;
}

export function toAccount({ account }: Texts): Link {
  return { href: '/account', text: account.see };
}

/** Where passwords are changed: of the provider only its page in `BRAND` is known. */
export function toPasswords(
  { brand, provider, texts: { security } }: Words,
  hasPaymentPassword: boolean,
): readonly Link[] {
  const text = hasPaymentPassword ? security.changePaymentPassword : security.setPaymentPassword;
  const payment = { href: '/account/payment-password', text };
  if (provider === null) return [{ href: '/account/password', text: security.changePassword }, payment];
  const there = brand.support?.password;
  return [
    ...(there ? [{ href: there, text: security.changePassword }] : []),
    ...(hasPaymentPassword && provider.paymentAcr === null ? [payment] : []),
  ];
}
