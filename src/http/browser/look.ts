import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context } from '../../flows/context.ts';
import type { Brand } from '../../rules/brand.ts';
import { eachLanguage, type PerLanguage } from '../../rules/perLanguage.ts';

/** Without comments and indentation, because every page carries it. */
const STYLE = readFileSync(new URL('../../../views/style.css', import.meta.url), 'utf8')
  .replaceAll(/\/\*.*?\*\//gs, '')
  .replaceAll(/\s*\n\s*/g, '\n');

const SCRIPT = readFileSync(new URL('../../../views/form.js', import.meta.url));

/** The one script, for pages that ask for a password. Its address has a hash of it. */
export const FORM_SCRIPT = {
  path: `/form-${createHash('sha256').update(SCRIPT).digest('hex').slice(0, 32)}.js`,
  body: SCRIPT,
};

/** What every page of a service has of it: made once, at the start. */
export interface Look {
  readonly style: string;
  /** The content security policy of its pages, but for where forms may lead. */
  readonly policy: string;
  /** What the policy of pages that ask for a password has beside. */
  readonly scriptPolicy: string;
  /** Whose pages these are, in each language. */
  readonly head: PerLanguage<Head>;
  /** Pages in the pieces between a caller's own values (`views.ts`). */
  readonly kept: Map<string, readonly Buffer[]>;
}

/** What the head and the foot of a page say. */
interface Head extends Pick<Brand, 'support'> {
  readonly service: string;
  readonly logo: string | null;
  /** The host that the address bar shows. */
  readonly address: string;
  readonly legal: string | null;
  readonly accent: string;
}

/** The colour of our own, as in `views/style.css`. */
const ACCENT = '#0b5e4a';

/** The look of a service's pages. */
export function lookOf({ brand, baseUrl }: Pick<Context, 'brand' | 'baseUrl'>): Look {
  const style = STYLE + accentStyle(brand);
  // The one inline style, by its hash: every other is refused.
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const head = eachLanguage((language) => ({
    service: brand.name[language],
    logo: brand.logo?.path ?? null,
    address: new URL(baseUrl).host,
    support: brand.support,
    legal: brand.legal?.[language] ?? null,
    accent: brand.accent?.light ?? ACCENT,
  }));
  // The one address, not 'self': nothing else that we serve can run. Every browser knows addresses, few the hash of a file.
  const scriptPolicy = `script-src ${new URL(baseUrl).origin}${FORM_SCRIPT.path}`;
  return { style, policy, scriptPolicy, head, kept: new Map() };
}

function accentStyle({ accent }: Brand): string {
  if (accent === null) return '';
  const dark = `@media (prefers-color-scheme: dark) { :root { --accent: ${accent.dark}; } }`;
  return `:root { --accent: ${accent.light}; }\n${dark}\n`;
}
