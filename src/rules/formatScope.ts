import type { PaymentLimit, Right } from './scope.ts';

/** Writes a scope by the grammar, in its shortest form: `parseScope(formatScope(rights))` gives `rights` back. */
export function formatScope(rights: readonly Right[]): string {
  return rights.map(formatRight).join(' ');
}

function formatRight(right: Right): string {
  switch (right.name) {
    case 'payment.to-pattern':
      return `payment.to-pattern(${quote(right.pattern)})${formatLimit(right.limit)}`;
    case 'payment.to-account': {
      const type = right.type === 'account' ? '' : `,${quote(right.type)}`;
      return `payment.to-account(${quote(right.to)}${type})${formatLimit(right.limit)}`;
    }
    case 'payment-shop':
    case 'payment-p2p':
      return `${right.name}${formatLimit(right.limit)}`;
    case 'money-source':
      return `money-source(${right.sources.map(quote).join(',')})`;
    case 'account-info':
    case 'operation-history':
    case 'operation-details':
    case 'incoming-transfers':
      return right.name;
  }
}

function formatLimit(limit: PaymentLimit | null): string {
  return limit === null ? '' : `.limit(${limit.days ?? ''},${limit.sum})`;
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
