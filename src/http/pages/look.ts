import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FifoMap } from 'toad-cache';
import type { Context } from '../../flows/common/context.ts';
import { type Language, textIn } from '../../languages/languages.ts';

const VIEWS = new URL('../../../views/', import.meta.url);

/** Without comments and indentation. */
const STYLE = readFileSync(new URL('style.css', VIEWS), 'utf8')
  .replaceAll(/\/\*.*?\*\//gs, '')
  .replaceAll(/\s*\n\s*/g, '\n');

/** The content security policy, to which pages add `form-action`. We send one style, and none inline. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

/** A file of our own pages. Browsers keep it: its address contains its hash. */
function assetOf(name: string, type: string, body: Buffer) {
  return { path: `/oauth/${name}-${hash('sha256', body).slice(0, 32)}.${type}`, body };
}

export const FORM_SCRIPT = assetOf('form', 'js', readFileSync(new URL('form.js', VIEWS)));

export type Branding = ReturnType<typeof brandingOf>;

export function brandingOf({
  brand,
  baseUrl,
  provider,
  languages,
}: Pick<Context, 'brand' | 'baseUrl' | 'provider' | 'languages'>) {
  const [address, there] = [new URL(baseUrl).host, new URL(provider?.issuer ?? baseUrl).host];
  const asking = provider === null ? [address] : [there, ...(provider.paymentAcr === null ? [address] : [])];
  const menu = languages.all.map(({ tag, texts }) => ({ tag, ownName: texts.ownName }));
  const documentHeadIn = (language: Language) => ({
    service: textIn(brand.name, language),
    logo: brand.logo?.path ?? null,
    address,
    /** The hosts of all pages that ask for a password. */
    passwordsAt: asking.join(', '),
    support: brand.support,
    legal: brand.legal && textIn(brand.legal, language),
    languages: menu,
    accent: brand.accent?.light ?? '#0b5e4a', // as in `views/style.css`
  });
  // The exact address, not 'self': no other file of ours can run. Few browsers support the hash of a file.
  const scriptPolicy = `script-src ${new URL(baseUrl).origin}${FORM_SCRIPT.path}`;
  const { accent } = brand;
  const dark = (colour: string) => `@media (prefers-color-scheme: dark) { :root { --accent: ${colour}; } }`;
  const colours = accent === null ? '' : `:root { --accent: ${accent.light}; }\n${dark(accent.dark)}\n`;
  return {
    style: assetOf('style', 'css', Buffer.from(STYLE + colours)),
    /** Added on pages with a password field. */
    scriptPolicy,
    documentHeads: new Map(languages.all.map((language) => [language.tag, documentHeadIn(language)])),
    /** Pages in pieces, see `views.ts`. */
    pieces: new FifoMap<readonly string[]>(256),
  };
}

// Icons repeat the adjacent words. All have one stroke weight and one size, in a square of 24.
const SHAPES = {
  spend: 'M3 7h18v10H3z M12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5 M6 12h.01 M18 12h.01',
  right: 'm5 12.5 4.5 4.5L19 7.5',
  ends: 'M5 12h14',
  error: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18 M12 7.5v5.5 M12 16.5h.01',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18 M12 11v5.5 M12 7.5h.01',
  done: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18 m-4 9.5 3 3 5-6',
};

export const ICONS = Object.fromEntries(Object.entries(SHAPES).map(([name, path]) => [name, iconOf(path)]));

function iconOf(path: string): string {
  return `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="${path}"/></svg>`;
}
