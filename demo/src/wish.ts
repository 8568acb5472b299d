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
  const [, scope] = Object.entries(EXAMPLES).find(([name]) => name === form.get('example')) ?? [];
  return { scope: scope ?? textOf(form, 'scope'), instance: textOf(form, 'instance_name') };
}

export function textOf(form: URLSearchParams, name: string, missing = ''): string {
  return (form.get(name) ?? missing).trim();
}
