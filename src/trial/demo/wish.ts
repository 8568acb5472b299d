/** What a person composed on the first page: the rights to ask for, and how. All text is as it was typed. */
export interface Wish {
  readonly rights: readonly string[];
  readonly sources: readonly string[];
  /** The text fields beside the rights, by the name of their input. */
  readonly details: Readonly<Record<string, string>>;
  readonly instance: string;
  /** Whether the code is exchanged as soon as it comes, as every real application does. */
  readonly atOnce: boolean;
  /** What is sent: made of the above, unless somebody wrote another one. */
  readonly scope: string;
}

export const SEEING = [
  'account-info',
  'operation-history',
  'operation-details',
  'incoming-transfers',
] as const;
export const PAYING = ['payment-shop', 'payment.to-pattern', 'payment-p2p', 'payment.to-account'] as const;
export const SOURCES = ['wallet', 'card'] as const;
export const ACCOUNT_TYPES = ['account', 'phone', 'email'] as const;

const DETAILS: Readonly<Record<string, string>> = {
  shop: '337',
  account: '4100175017397',
  type: 'account',
  ...Object.fromEntries(
    PAYING.flatMap((right) => [`days:${right}`, `sum:${right}`].map((name) => [name, ''])),
  ),
  'days:payment-shop': '7',
  'sum:payment-shop': '5000',
};

const MAX_DETAIL_CHARACTERS = 300;
const MAX_SCOPE_CHARACTERS = 4000;

/** What the first page begins with. */
export const FIRST_WISH = composed({
  rights: ['account-info', 'operation-history', 'payment-shop'],
  sources: SOURCES,
  details: DETAILS,
  instance: '',
  atOnce: true,
});

/** A wish whose scope is made of its other parts. */
export function composed(wish: Omit<Wish, 'scope'>): Wish {
  return { ...wish, scope: scopeOf(wish) };
}

/**
 * Reads the form of the first page. Who wrote a scope of their own gets that: `composed` is what the page had made of the rest.
 */
export function parseWish(form: URLSearchParams): Wish {
  const wish = composed({
    rights: [...SEEING, ...PAYING].filter((right) => form.getAll('right').includes(right)),
    sources: SOURCES.filter((source) => form.getAll('source').includes(source)),
    details: Object.fromEntries(
      Object.keys(DETAILS).map((name) => [name, clip(form.get(name), MAX_DETAIL_CHARACTERS)]),
    ),
    instance: clip(form.get('instance_name'), MAX_DETAIL_CHARACTERS),
    atOnce: form.has('at-once'),
  });
  const written = clip(form.get('scope'), MAX_SCOPE_CHARACTERS);
  return written === clip(form.get('composed'), MAX_SCOPE_CHARACTERS) ? wish : { ...wish, scope: written };
}

/** The text of a `scope`: docs/scopes.md has its grammar. */
export function scopeOf({ rights, sources, details }: Omit<Wish, 'scope'>): string {
  const elements = rights.map((right) => right + targetOf(right, details) + limitOf(right, details));
  if (sources.length > 0) elements.push(`money-source(${sources.map(quoted).join(',')})`);
  return elements.join(' ');
}

function targetOf(right: string, { shop = '', account = '', type = '' }: Wish['details']): string {
  if (right === 'payment.to-pattern') return `(${quoted(shop)})`;
  if (right !== 'payment.to-account') return '';
  return type === 'account' ? `(${quoted(account)})` : `(${quoted(account)},${quoted(type)})`;
}

/** Without a sum no limit is written; without days it is one payment of exactly that sum. */
function limitOf(right: string, details: Wish['details']): string {
  const [days = '', sum = ''] = [details[`days:${right}`], details[`sum:${right}`]];
  return sum === '' ? '' : `.limit(${days},${sum})`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

function clip(text: string | null, max: number): string {
  return (text ?? '').trim().slice(0, max);
}
