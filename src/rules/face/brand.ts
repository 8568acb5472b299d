import { z } from 'zod';
import { isWebAddress, WEB_ADDRESS_RULE } from '../common/network.ts';
import { parseJson, parseOperatorFile } from '../common/operatorFile.ts';
import { perLanguage } from '../common/perLanguage.ts';
import { recordOf } from '../common/recordOf.ts';
import type { Logo } from './logo.ts';

/** The operator's file `BRAND`, with its logo; null for our own shield, colours and so on. */
export interface Brand extends Readonly<ReturnType<typeof parseBrand>> {
  readonly logo: (Logo & { readonly path: string }) | null;
}

export const BUILT_IN_BRAND: Brand = {
  name: { '': 'Assent' },
  ...recordOf(['logo', 'accent', 'support', 'legal'], null),
};

type Theme = 'light' | 'dark';

/** The backgrounds of an accent, as in `views/style.css` (tested). Links have its colour, the text of a button the surface's. */
export const BACKGROUNDS: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: { surface: '#ffffff', page: '#f2f4f3', warn: '#fff6df', bad: '#fdeeec' },
  dark: { surface: '#161d1b', page: '#0d1211', warn: '#2b2412', bad: '#331a18' },
};
/** The share of the accent in the tint of boxes, as in `views/style.css`. */
export const TINT = 0.08;

export function backgroundsOf(accent: string, theme: Theme): Readonly<Record<string, string>> {
  const { surface = '' } = BACKGROUNDS[theme];
  const mixed = partsOf(accent).map((part, at) => part * TINT + (partsOf(surface)[at] ?? 0) * (1 - TINT));
  const hex = mixed.map((part) => Math.round(part).toString(16).padStart(2, '0'));
  return { ...BACKGROUNDS[theme], tint: `#${hex.join('')}` };
}

/** WCAG 2.2, 1.4.3, for text of any size. */
const MIN_CONTRAST = 4.5;

/** The name appears in the head of each page, even at 320 pixels. */
const MAX_BRAND_NAME_CHARACTERS = 40;
const MAX_LEGAL_CHARACTERS = 300;

const NO_COLOUR = 'must be a colour such as #0b5e4a';
const NO_FILE = 'must be the path of an SVG or PNG file';

const colour = (theme: Theme) =>
  z
    .string(NO_COLOUR)
    .regex(/^#[0-9a-f]{6}$/i, { error: NO_COLOUR, abort: true })
    .refine((accent) => contrastProblem(accent, theme) === undefined, {
      error: ({ input }) => contrastProblem(String(input), theme),
    });
const text = z.string('must be a string');
const webAddress = text.refine(isWebAddress, `must be ${WEB_ADDRESS_RULE}`).optional();
const PHONE = /^(?=.{3,30}$)\+?\d[\d ()-]*\d$/;
const EMAIL = /^(?=.{3,100}$)[\w.+-]+@[\w-]+(\.[\w-]+)+$/;

const BRAND = z.strictObject(
  {
    name: perLanguage(MAX_BRAND_NAME_CHARACTERS),
    logo: z.string(NO_FILE).min(1, NO_FILE).optional(),
    /** The colour of buttons, links and focus, as `#rrggbb`. */
    accent: z
      .strictObject({ light: colour('light'), dark: colour('dark') }, 'must be an object with light and dark')
      .optional(),
    support: z
      .strictObject(
        {
          url: webAddress,
          phone: text.regex(PHONE, 'must be a phone number such as +7 800 555 35 35').optional(),
          email: text.regex(EMAIL, 'must be an email address such as help@pay.example').optional(),
          password: webAddress,
        },
        'must be an object with url, phone or email',
      )
      .refine(({ url, phone, email }) => url ?? phone ?? email, 'must have a url, a phone or an email')
      .optional(),
    legal: perLanguage(MAX_LEGAL_CHARACTERS).optional(),
  },
  'must be an object with a name',
);

/** The `logo` of a brand file, despite other mistakes; null for none. */
export function logoNameIn(json: string): string | null {
  return z.object({ logo: z.string().min(1) }).safeParse(parseJson(json)).data?.logo ?? null;
}

/** Parses an operator's brand file. @throws {FileError} with all its mistakes */
export function parseBrand(json: string) {
  const { name, accent = null, support, legal = null } = parseOperatorFile(BRAND, json);
  const { url = null, phone = null, email = null, password = null } = support ?? {};
  return { name, accent, support: support === undefined ? null : { url, phone, email, password }, legal };
}

/** The background with too little contrast, as the end of a sentence; undefined for none. */
function contrastProblem(accent: string, theme: Theme): string | undefined {
  const ratios = Object.entries(backgroundsOf(accent, theme)).map(([name, background]) => {
    return { name, background, ratio: contrastRatio(accent, background) };
  });
  const [worst] = ratios.sort((a, b) => a.ratio - b.ratio);
  if (worst === undefined || worst.ratio >= MIN_CONTRAST) return undefined;
  // Rounded down: 4.499 must not appear as the required 4.5.
  const shown = (Math.floor(worst.ratio * 100) / 100).toFixed(2);
  const uses = worst.name === 'surface' ? 'button text, links and focus outline' : 'links and focus outline';
  return `${accent} has a contrast of ${shown} with the ${worst.name} colour ${worst.background} (${uses}): it must be at least ${MIN_CONTRAST}`;
}

/** The contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastRatio(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** 0 for black to 1 for white (WCAG 2.2, "relative luminance"). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function partsOf(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
