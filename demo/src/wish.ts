/** A request as it was composed on the first page. All text is as it was typed. */
export interface Wish {
  readonly rights: readonly string[];
  readonly sources: readonly string[];
  /** The text fields beside the rights, by the name of their input. */
  readonly details: Readonly<Record<string, string>>;
  readonly instance: string;
  /** Exchanges the code as soon as it comes, as every real application does. */
  readonly atOnce: boolean;
  /** Made of the above, unless another one was written. */
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

const DETAILS = ['shop', 'account', 'type', ...PAYING.flatMap((right) => [`days:${right}`, `sum:${right}`])];
const MAX_DETAIL_CHARACTERS = 300;
const MAX_SCOPE_CHARACTERS = 4000;

/** The first page's form as it begins. */
const FIRST_FORM = [
  'right=account-info&right=operation-history&right=payment-shop&days:payment-shop=7&sum:payment-shop=5000',
  'source=wallet&source=card&shop=337&account=4100175017397&type=account&at-once=on',
];
export const FIRST_WISH = parseWish(new URLSearchParams(FIRST_FORM.join('&')));

/** Reads the form of the first page. A scope that differs from `composed`, which the page made of the rest, is one's own. */
export function parseWish(form: URLSearchParams): Wish {
  const text = (name: string, max = MAX_DETAIL_CHARACTERS) => (form.get(name) ?? '').trim().slice(0, max);
  const wish = {
    rights: [...SEEING, ...PAYING].filter((right) => form.getAll('right').includes(right)),
    sources: SOURCES.filter((source) => form.getAll('source').includes(source)),
    details: Object.fromEntries(DETAILS.map((name) => [name, text(name)])),
    instance: text('instance_name'),
    atOnce: form.has('at-once'),
  };
  const written = text('scope', MAX_SCOPE_CHARACTERS);
  const isComposed = written === text('composed', MAX_SCOPE_CHARACTERS);
  return { ...wish, scope: isComposed ? scopeOf(wish) : written };
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
