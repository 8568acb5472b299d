import type { Texts } from '../../languages/languages.ts';

/** Where a page leads on to. */
export interface Link {
  readonly href: string;
  readonly text: string;
  readonly inNewTab?: boolean;
}

/** To the user's page, which every dead end may lead to. */
export function toAccount({ account }: Texts): Link {
  return { href: '/account', text: account.see };
}

/** To the pages that change the passwords, that of sign-in first. */
export function toPasswords({ security }: Texts, hasPaymentPassword: boolean): readonly [Link, Link] {
  const { changePassword, changePaymentPassword, setPaymentPassword } = security;
  return [
    { href: '/account/password', text: changePassword },
    {
      href: '/account/payment-password',
      text: hasPaymentPassword ? changePaymentPassword : setPaymentPassword,
    },
  ];
}
