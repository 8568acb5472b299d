import type { Texts } from '../../languages/languages.ts';

export interface Link {
  readonly href: string;
  readonly text: string;
  readonly inNewTab?: boolean;
}

export function toAccount({ account }: Texts): Link {
  return { href: '/account', text: account.see };
}

export function toStop({ stop }: Texts): Link {
  return { href: '/account/stop', text: stop.see };
}

export function toPasswords({ security }: Texts, hasPaymentPassword: boolean): readonly [Link, Link] {
  const payment = hasPaymentPassword ? security.changePaymentPassword : security.setPaymentPassword;
  return [
    { href: '/account/password', text: security.changePassword },
    { href: '/account/payment-password', text: payment },
  ];
}
