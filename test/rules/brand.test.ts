import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  BACKGROUNDS,
  BUILT_IN_BRAND,
  backgroundsOf,
  contrastRatio,
  logoNameIn,
  parseBrand,
  TINT,
} from '../../src/rules/face/brand.ts';
import { mistakesIn } from './refusal.ts';

const COMPLETE = {
  name: { en: 'Pay & Co', ru: 'Платёж и Ко' },
  logo: 'logo.svg',
  accent: { light: '#0b5e4a', dark: '#6fd3b3' },
  support: {
    url: 'https://pay.example/help?from=assent',
    phone: '+7 (800) 555-35-35',
    email: 'help@pay.example',
    password: 'https://pay.example/forgotten',
  },
  legal: 'Pay & Co Ltd, licence 123',
};

const problems = (file: unknown) => mistakesIn(file, parseBrand);

const STYLE = readFileSync(new URL('../../views/style.css', import.meta.url), 'utf8');
const THEMES = { light: STYLE.slice(0, STYLE.indexOf('@media')), dark: STYLE.slice(STYLE.indexOf('@media')) };

/** The value that a variable has first from there on. */
function variableIn(style: string, name: string): string | undefined {
  return new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(style)?.[1];
}

/** Lines on their backgrounds. WCAG 2.2 asks for a contrast of 3 (1.4.11); of texts, a browser measures it in test/pages. */
const LINES = [
  ['control', ['surface', 'page']],
  ['warn-line', ['surface', 'warn']],
  ['bad-line', ['surface', 'bad']],
] as const;

describe.each(['light', 'dark'] as const)('the %s style', (theme) => {
  it('has the background colours that the contrast check of an accent uses', () => {
    for (const [name, colour] of Object.entries(BACKGROUNDS[theme])) {
      expect([name, variableIn(THEMES[theme], name)]).toEqual([name, colour]);
    }
    expect(STYLE).toContain(`--tint: color-mix(in srgb, var(--accent) ${TINT * 100}%, var(--surface));`);
  });

  it.each(LINES)('shows the line %s with enough contrast on: %j', (name, backgrounds) => {
    const all = backgroundsOf(variableIn(THEMES[theme], 'accent') ?? '', theme);
    for (const background of backgrounds)
      expect(
        contrastRatio(variableIn(THEMES[theme], name) ?? '', all[background] ?? ''),
      ).toBeGreaterThanOrEqual(3);
  });
});

describe('a brand', () => {
  it('is read with all its fields', () => {
    const { logo, legal, ...others } = COMPLETE;
    const json = JSON.stringify(COMPLETE);
    expect(parseBrand(json)).toEqual({ ...others, legal: { '': legal } });
    expect(logoNameIn(json)).toBe(logo);
  });

  it('needs only a name; one text serves as the name in each language', () => {
    const nothing = { accent: null, support: null, legal: null };
    expect(parseBrand('{"name":"Pay"}')).toEqual({ name: { '': 'Pay' }, ...nothing });
    const { support } = parseBrand('{"name":"Pay","support":{"phone":"112"}}');
    expect(support).toEqual({ url: null, phone: '112', email: null, password: null });
    expect(BUILT_IN_BRAND).toMatchObject({ name: { '': 'Assent' }, ...nothing });
  });

  it('is refused with a line for each mistake', () => {
    const wrong = {
      name: { en: 'Pay', german: 'Zahl', ru: 7 },
      logo: 7,
      colour: '#000000',
      accent: { light: 'green' },
      support: { url: 'http://pay.example', phone: 'call us', fax: '1', password: '/forgotten' },
      legal: ['x'],
    };
    expect(problems(wrong).toSorted()).toEqual([
      'accent.dark must be a colour such as #0b5e4a',
      'accent.light must be a colour such as #0b5e4a',
      'colour is unknown',
      'legal must be a string, or an object with a string for each language, such as en',
      'logo must be the path of an SVG or PNG file',
      'name.german is not a language tag, such as en or pt-BR',
      'name.ru must be a string',
      'support.fax is unknown',
      'support.password must be https://, a host and at most 500 visible ASCII characters',
      'support.phone must be a phone number such as +7 800 555 35 35',
      'support.url must be https://, a host and at most 500 visible ASCII characters',
    ]);
  });

  it.each([
    ['{', /^is not JSON: /],
    ['[]', 'must be an object with a name'],
    ['null', 'must be an object with a name'],
    ['{}', 'name must be a string, or an object with a string for each language, such as en'],
    [{ name: '' }, 'name must have 1 to 40 characters'],
    [{ name: 'x'.repeat(41) }, 'name must have 1 to 40 characters'],
    [{ name: 'Pay\u200b' }, 'name has U+200B at character 4: only visible characters are allowed'],
    [{ name: 'x', support: {} }, 'support must have a url, a phone or an email'],
    [{ name: 'x', support: { password: 'https://x' } }, 'support must have a url, a phone or an email'],
    [{ name: 'x', support: 'https://x' }, 'support must be an object with url, phone or email'],
    [{ name: 'x', support: { url: 'https://x@pay.example' } }, /^support\.url must be https/],
    [{ name: 'x', support: { url: 'javascript:alert(1)' } }, /^support\.url must be https/],
    [{ name: 'x', support: { email: 'help' } }, /^support\.email must be an email address/],
    [{ name: 'x', accent: '#000000' }, 'accent must be an object with light and dark'],
    [{ name: 'x', legal: 'y'.repeat(301) }, 'legal must have 1 to 300 characters'],
  ])('is refused: %j', (file, problem) => {
    const said = problems(file);
    expect(said[0]).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
    expect(said.every((line) => !line.includes('\n'))).toBe(true);
  });

  it('is refused for an accent with low contrast; the message has the ratio and both colours', () => {
    const accents = (light: string, dark: string) => problems({ name: 'x', accent: { light, dark } });
    expect(accents('#767676', '#6fd3b3')).toEqual([
      'accent.light #767676 has a contrast of 4.02 with the bad colour #fdeeec (links and focus outline): it must be at least 4.5',
    ]);
    expect(accents('#ffdd00', '#0b5e4a')).toEqual([
      expect.stringMatching(/^accent\.light #ffdd00 has a contrast of 1\.\d\d with the \w+ colour/),
      expect.stringMatching(/^accent\.dark #0b5e4a has a contrast of 1\.\d\d with the \w+ colour/),
    ]);
    expect(accents('#1d5cff', '#6fd3b3')).toEqual([]);
    expect(accents('#4A3AA7', '#b9aeff')).toEqual([]);
  });
});
