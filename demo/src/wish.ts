export interface Wish {
  readonly scope: string;
  readonly instance: string;
}

/** Initial scopes, the first one for the lessons; `docs/integrate/scopes.md` has the grammar. */
export const EXAMPLES = {
  week: 'account-info operation-history payment-shop.limit(7,5000) money-source("wallet","card")',
  once: 'payment.to-pattern("337").limit(,3000) money-source("wallet")',
  person: 'payment.to-account("79161234567","phone").limit(30,1000) money-source("wallet","card")',
  contradiction: 'payment-p2p payment.to-account("4100175017397") money-source("wallet")',
} as const;
export const FIRST_WISH: Wish = { scope: EXAMPLES.week, instance: '' };

export function parseWish(form: URLSearchParams): Wish {
  const text = (name: string) => form.get(name)?.trim() ?? '';
  const example = Object.entries(EXAMPLES).find(([name]) => name === form.get('example'));
  return {
    scope: example?.[1] ?? text('scope'),
    instance: text('instance_name'),
  };
}
