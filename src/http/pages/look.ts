import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FifoMap } from 'toad-cache';
import type { Context } from '../../flows/common/context.ts';
import { eachLanguage } from '../../rules/common/perLanguage.ts';
import type { Brand } from '../../rules/face/brand.ts';

/** Without comments and indentation. */
const STYLE = readFileSync(new URL('../../../views/style.css', import.meta.url), 'utf8')
  .replaceAll(/\/\*.*?\*\//gs, '')
  .replaceAll(/\s*\n\s*/g, '\n');

const SCRIPT = readFileSync(new URL('../../../views/form.js', import.meta.url));

const MAX_KEPT_PAGES = 256;

/** A file of our own pages. Browsers keep it: its address contains its hash. */
function assetOf(name: string, type: string, body: Buffer) {
  return { path: `/${name}-${hash('sha256', body).slice(0, 32)}.${type}`, body };
}

export const FORM_SCRIPT = assetOf('form', 'js', SCRIPT);

/** The brand's parts of the pages, made once. */
export type Branding = ReturnType<typeof brandingOf>;

export function brandingOf({ brand, baseUrl, provider }: Pick<Context, 'brand' | 'baseUrl' | 'provider'>) {
  const policy = [
    "default-src 'none'",
    // We send no other style, and none inline.
    "style-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const [address, there] = [new URL(baseUrl).host, new URL(provider?.issuer ?? baseUrl).host];
  const asking = provider === null ? [address] : [there, ...(provider.paymentAcr === null ? [address] : [])];
  /** The texts of head and foot. */
  const documentHead = eachLanguage((language) => ({
    service: brand.name[language],
    logo: brand.logo?.path ?? null,
    /** The host in the address bar. */
    address,
    /** The hosts of all pages that ask for a password. */
    passwordsAt: asking.join(', '),
    support: brand.support,
    legal: brand.legal?.[language] ?? null,
    accent: brand.accent?.light ?? '#0b5e4a', // as in `views/style.css`
  }));
  // The exact address, not 'self': no other file of ours can run. Few browsers support the hash of a file.
  const scriptPolicy = `script-src ${new URL(baseUrl).origin}${FORM_SCRIPT.path}`;
  return {
    style: assetOf('style', 'css', Buffer.from(STYLE + accentStyle(brand))),
    /** The content security policy, without `form-action`. */
    policy,
    /** Added on pages with a password field. */
    scriptPolicy,
    documentHead,
    /** Pages in pieces: the text between the users' own values, and their names (`views.ts`). */
    kept: new FifoMap<readonly string[]>(MAX_KEPT_PAGES),
  };
}

function accentStyle({ accent }: Brand): string {
  if (accent === null) return '';
  const dark = `@media (prefers-color-scheme: dark) { :root { --accent: ${accent.dark}; } }`;
  return `:root { --accent: ${accent.light}; }\n${dark}\n`;
}
