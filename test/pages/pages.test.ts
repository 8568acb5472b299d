import * as cheerio from 'cheerio';
import { describe, expect, it } from 'vitest';
import { brandingOf, FORM_SCRIPT } from '../../src/http/pages/look.ts';
import type { Page } from '../../src/http/pages/pages.ts';
import { OWN_VALUES, pageHeaders, pageText, renderPage } from '../../src/http/pages/views.ts';
import { LANGUAGES } from '../../src/languages/languages.ts';
import { BUILT_IN_BRAND } from '../../src/rules/face/brand.ts';
import { pageSamplesIn } from './samples.ts';

const LOOK = brandingOf({ brand: BUILT_IN_BRAND, baseUrl: 'https://pay.example', provider: null });
const HELPING = brandingOf({
  brand: {
    ...BUILT_IN_BRAND,
    support: {
      url: 'https://pay.example/help',
      phone: '+7 (800) 555-35-35',
      email: 'help@pay.example',
      password: 'https://pay.example/forgotten',
    },
    legal: { en: 'Pay Ltd', ru: 'ООО «Платёж»' },
  },
  baseUrl: 'https://pay.example',
  provider: null,
});
const WAY_BACK = 'L2FjY291bnQ';
const pages = LANGUAGES.flatMap((language) =>
  Object.entries(pageSamplesIn(language)).map(([name, page]) => [language, name, page] as const),
);

describe.each(pages)('in %s the page sample "%s"', (language, _name, page) => {
  const $ = cheerio.load(renderPage(page, language, LOOK, WAY_BACK));
  const policy = pageHeaders(page, language, LOOK)['content-security-policy'] ?? '';
  const saysAddressAtField = ['sign-in', 'confirm', 'password'].includes(page.name);

  it('is the same when it is built from another caller’s cached parts', () => {
    const names = OWN_VALUES[page.name] ?? [];
    const own = Object.entries(page).filter(
      ([name, value]) => names.includes(name) && typeof value === 'string',
    );
    const strange = own.map(([name]) => [
      name,
      `${name} "<b>&'$&$1${name.startsWith('user') ? '\u2068' : ''}`,
    ]);
    const other = { ...page, ...Object.fromEntries(strange) } as Page;
    const inTurn = [
      [page, WAY_BACK],
      [other, '"'],
      [page, WAY_BACK],
    ] as const;
    for (const [one, wayBack] of inTurn)
      expect(pageText(one, language, LOOK, wayBack)).toBe(renderPage(one, language, LOOK, wayBack));
  });

  it('has a title and its language, offers the others, and has no unfinished text', () => {
    expect($('main').attr('data-page')).toBe(page.name);
    expect($('html').attr('lang')).toBe(language);
    const buttons = $('header form button[name=language]').toArray();
    for (const name of ['value', 'lang'])
      expect(buttons.map((button) => $(button).attr(name))).toEqual(LANGUAGES);
    expect($('.languages [aria-current]').attr('value')).toBe(language);
    expect($('body').text()).not.toMatch(/undefined|\[object|NaN|\{target\}/);
  });

  it('has the one script if a password is typed, otherwise none, and no handler, inline style or outside address', () => {
    const asksForPassword = $('input[type=password]').length > 0;
    const scripts = $('script').toArray();
    expect(scripts.map((script) => $(script).attr())).toEqual(
      asksForPassword ? [{ type: 'module', src: FORM_SCRIPT.path }] : [],
    );
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe(
      asksForPassword ? `https://pay.example${FORM_SCRIPT.path}` : undefined,
    );
    expect($('style')).toHaveLength(0);
    const all = $('*').toArray();
    expect(all.flatMap((element) => Object.keys($(element).attr() ?? {})).join()).not.toMatch(
      /(^|,)(on|style)/,
    );
    const addresses = all.flatMap((element) => $(element).attr('src') ?? $(element).attr('href') ?? []);
    expect(addresses.filter((address) => !/^(data:image\/svg\+xml,|\/(?!\/))/.test(address))).toEqual([]);
  });

  it('has the same footer as every other page, with help in one place', () => {
    const withHelp = cheerio.load(renderPage(page, language, HELPING, WAY_BACK));
    const foot = withHelp('footer').children().toArray();
    expect(foot.map((part) => withHelp(part).attr('class') ?? part.tagName)).toEqual([
      ...(saysAddressAtField ? [] : ['p']),
      'help',
      'p',
      'nav',
    ]);
    const links = withHelp('footer .help a').toArray();
    expect(links.map((link) => withHelp(link).attr('href'))).toEqual([
      'https://pay.example/help',
      'tel:+78005553535',
      'mailto:help@pay.example',
    ]);
    expect(withHelp('body').children().last().is('footer')).toBe(true);
    expect(withHelp('header > form').is('.languages')).toBe(true);
    expect(withHelp('.languages a')).toHaveLength(0);
    expect($('footer .help')).toHaveLength(0);
  });

  it('links to the operator’s page for forgotten passwords beside the password field, if there is one', () => {
    const withHelp = cheerio.load(renderPage(page, language, HELPING, WAY_BACK));
    const links = (document: cheerio.CheerioAPI) =>
      document('.password a')
        .toArray()
        .map((link) => document(link).attr('href'));
    const fields = $('input[autocomplete=current-password]').length;
    expect(links(withHelp)).toEqual(Array(fields).fill('https://pay.example/forgotten'));
    expect(links($)).toEqual([]);
  });

  it('names the address to check once: at the password field, else in its footer', () => {
    expect($('footer').text().includes('pay.example')).toBe(!saysAddressAtField);
    expect($('#here strong').text()).toBe(saysAddressAtField ? 'pay.example' : '');
    if (saysAddressAtField)
      expect($('input[type=password]').attr('aria-describedby')?.split(' ')).toContain('here');
  });

  it('lets its form redirect to the application only on pages that answer it', () => {
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    const answers = page.name === 'consent';
    expect(policy.includes("form-action 'self'")).toBe(!answers);
    expect($('input[type=password]').length === 0 || !answers).toBe(true);
  });
});
