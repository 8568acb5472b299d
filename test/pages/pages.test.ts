import * as cheerio from 'cheerio';
import { describe, expect, it } from 'vitest';
import { FORM_SCRIPT } from '../../src/http/pages/look.ts';
import { BUILT_IN_TAGS } from '../../src/languages/languages.ts';
import { BASE_URL, BUILT_IN_LOOK, FULL_BRAND, LOOKS } from './looks.ts';
import { headersOf, ownValuesOf, type Page, renderPage, renderShared } from './rendering.ts';
import { pageSamplesIn } from './samples.ts';
import { WAY_BACK } from './states.ts';

const HELPING = LOOKS.full ?? BUILT_IN_LOOK;
const pages = BUILT_IN_TAGS.flatMap((language) =>
  Object.entries(pageSamplesIn(language)).map(([name, page]) => [language, name, page] as const),
);

const valuesOf = ($: cheerio.CheerioAPI, selector: string, attribute: string) =>
  $(selector)
    .toArray()
    .map((element) => $(element).attr(attribute));

describe.each(pages)('in %s the page sample "%s"', async (language, _name, page) => {
  const $ = cheerio.load(await renderPage(page, language, BUILT_IN_LOOK, WAY_BACK));
  const withHelp = cheerio.load(await renderPage(page, language, HELPING, WAY_BACK));
  const policy = headersOf(page, language, BUILT_IN_LOOK)['content-security-policy'] ?? '';
  const saysAddressAtField =
    /^(sign-in|password)$/.test(page.name) || (page.name === 'confirm' && page.keptAs !== null);

  it('is the same when it is rendered from parts cached for another user', async () => {
    const other: Record<string, unknown> = { ...page };
    for (const name of ownValuesOf(page))
      if (typeof other[name] === 'string')
        other[name] = `${name} "<b>&'$&$1${name.startsWith('user') ? '\u2068' : ''}`;
    for (const [one, wayBack] of [
      [page, WAY_BACK],
      [other as unknown as Page, '"'],
      [page, WAY_BACK],
    ] as const)
      expect(await renderShared(one, language, BUILT_IN_LOOK, wayBack)).toBe(
        await renderPage(one, language, BUILT_IN_LOOK, wayBack),
      );
  });

  it('has its name and language, offers all languages, and has no unfilled placeholder', () => {
    expect($('main').attr('data-page')).toBe(page.name);
    expect($('html').attr('lang')).toBe(language);
    for (const attribute of ['value', 'lang'])
      expect(valuesOf($, 'header form button[name=language]', attribute)).toEqual(BUILT_IN_TAGS);
    expect($('.languages [aria-current]').attr('value')).toBe(language);
    expect($('body').text()).not.toMatch(/undefined|\[object|NaN|\{target\}/);
  });

  it('has a script only with a password field, and no inline handler, inline style or external URL [pages-1]', () => {
    const asksForPassword = $('input[type=password]').length > 0;
    expect(valuesOf($, 'script', 'src')).toEqual(asksForPassword ? [FORM_SCRIPT.path] : []);
    expect(/script-src ([^;]*)/.exec(policy)?.[1]).toBe(
      asksForPassword ? BASE_URL + FORM_SCRIPT.path : undefined,
    );
    expect($('style')).toHaveLength(0);
    const all = $('*').toArray();
    expect(all.flatMap((element) => Object.keys($(element).attr() ?? {})).join()).not.toMatch(
      /(^|,)(on|style)/,
    );
    // A hostile sample's begins with a slash and a quote.
    const addresses = ['src', 'href', 'action'].flatMap((name) => valuesOf($, `[${name}]`, name));
    expect(
      addresses.filter((address) => !/^(data:image\/svg\+xml,|\/oauth\/|\/")/.test(address ?? '')),
    ).toEqual([]);
  });

  it('has the same footer as every other page, with all support contacts in it', () => {
    const parts = withHelp('footer').children().toArray();
    expect(parts.map((part) => withHelp(part).attr('class') ?? part.tagName)).toEqual(
      saysAddressAtField ? ['help', 'p', 'nav'] : ['p', 'help', 'p', 'nav'],
    );
    const { url, phone, email } = FULL_BRAND.support;
    const help = [url, `tel:${phone.replaceAll(/[ ()-]/g, '')}`, `mailto:${email}`];
    expect(valuesOf(withHelp, 'footer .help a', 'href')).toEqual(help);
    expect(withHelp('body').children().last().is('footer')).toBe(true);
    expect(withHelp('header > form').is('.languages')).toBe(true);
    expect(withHelp('.languages a')).toHaveLength(0);
    expect($('footer .help')).toHaveLength(0);
  });

  it('links to the operator’s page for forgotten passwords beside each field for a current password', () => {
    const fields = $('input[autocomplete=current-password]').length;
    const links = Array(fields).fill(FULL_BRAND.support.password);
    expect(valuesOf(withHelp, '.password a', 'href')).toEqual(links);
    expect(valuesOf($, '.password a', 'href')).toEqual([]);
  });

  it('shows the address of the service at the password field, or else in the footer, not in both', () => {
    expect($('footer').text().includes('pay.example')).toBe(!saysAddressAtField);
    expect($('#here strong').text()).toBe(saysAddressAtField ? 'pay.example' : '');
    if (saysAddressAtField)
      expect($('input[type=password]').attr('aria-describedby')?.split(' ')).toContain('here');
  });

  it('has a CSP that limits forms to Assent itself, except on the consent page', () => {
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    const answers = page.name === 'consent';
    expect(policy.includes("form-action 'self'")).toBe(!answers);
    expect($('input[type=password]').length === 0 || !answers).toBe(true);
  });
});
