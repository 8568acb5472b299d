import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { FACETS } from '../../scripts/facets.mjs';
import * as registration from '../../src/rules/account/registration.ts';
import { lookAlikeProblem } from '../../src/rules/common/lookAlike.ts';
import { parseCeiling } from '../../src/rules/common/money.ts';
import { redirectUriProblem } from '../../src/rules/request/redirectUri.ts';
import { isRightName } from '../../src/rules/scope/rights.ts';

// The facets of docs/openapi.json and the rules of src/rules/ judge texts alike.

type Schema = z.core.JSONSchema.BaseSchema;

const passes = (check: () => unknown) => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};
const facet = (field: string) => FACETS[field] as Schema;

const RULES: Readonly<Record<string, readonly [schema: Schema, accepts: (text: string) => boolean]>> = {
  name: [facet('name'), (text) => passes(() => registration.checkName(text))],
  'clients.create name': [
    facet('clients.create name'),
    (text) => passes(() => registration.checkName(text)) && !lookAlikeProblem(text, [])?.startsWith('has '),
  ],
  // The logins . and .. would take a pattern as long as the rest.
  login: [facet('login'), (text) => /^\.{1,2}$/.test(text) || passes(() => registration.checkLogin(text))],
  external_id: [facet('external_id'), (text) => passes(() => registration.checkExternalId(text))],
  id: [facet('id'), (text) => passes(() => registration.checkClientId(text))],
  secret: [facet('secret'), (text) => passes(() => registration.checkExistingSecret('secret', text))],
  password: [facet('password'), (text) => registration.passwordProblem(text) === null],
  redirect_uri: [facet('redirect_uri'), (text) => redirectUriProblem(text) === undefined],
  site: [facet('site'), (text) => passes(() => registration.checkClientSettings({ site: text }))],
  sum: [facet('most').properties?.sum as Schema, (text) => parseCeiling(`1,${text}`) !== undefined],
  right: [facet('allowed_rights').items as Schema, isRightName],
};
const BY_FIELD = Object.entries(RULES).map(([field, [schema, accepts]]) => {
  const form = new RegExp(schema.pattern ?? '', 'u');
  const { minLength: least = 0, maxLength: most = Number.POSITIVE_INFINITY } = schema;
  const allows = (text: string) => [...text].length >= least && [...text].length <= most && form.test(text);
  return { field, schema, allows, accepts };
});

/** Texts near the border: parts of names, of addresses and of numbers. */
const PIECES = [
  ...'aZ70 .-_~/:?#@%[]жéกﷺ🍵يक☕👨👩',
  ...'e\u0301 \u0e38 \u034f \u115f \u00ad \u200b \u0378 \0 \x7f \u200c \u200d \u094d \ufe0f'.split(' '),
  ...['\u2028', '  ', '://', '%2F', '[::1]', 'https', 'http', 'javascript', 'com.shop', 'shop.example'],
  ...['127.0.0.1', 'localhost', '300', '65535', '65536'],
];
const TEXT = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 9 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary', maxLength: 300 }).filter((text) => !/\p{Surrogate}/u.test(text)),
);

/** Rules that a pattern can’t state: letters that show nothing, letters and punctuation that are pictures, joiners in rare scripts, scripts of browsers, names of parameters, hosts. */
const isRare = (field: string, text: string) =>
  /\p{Default_Ignorable_Code_Point}|[ℹ‼⁉〰〽\u2800\uFFFC\u{13441}\u{13442}\u{1D159}]/u.test(text) ||
  /^(site|redirect_uri|right|password)$/.test(field);

describe('the schema of a registered text', () => {
  it.each(BY_FIELD)('allows what the rule accepts, and no more: $field', ({ field, allows, accepts }) => {
    fc.assert(
      fc.property(TEXT, (text) => {
        if (accepts(text) !== allows(text))
          expect([text, accepts(text), isRare(field, text)]).toEqual([text, accepts(text), true]);
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ['name', 'Tea & Co. “Зелёный чай” №1'],
    ['name', 'Nguyễn Thị Ánh'],
    ['name', 'می‌خواهم'],
    ['name', 'श्री क्‍ष'],
    ['name', '☕️ ශ්‍රී 🍵'],
    ['clients.create name', 'Tea & Co. “Зелёный чай” №1 ± €'],
    ['external_id', 'uid=vera,o=Wallet  Ltd'],
    ['id', '...'],
    ['redirect_uri', 'com.shop.app:/callback'],
    ['redirect_uri', 'com.shop.app://callback/x?y=1'],
    ['redirect_uri', 'http://127.0.0.1:8080/callback'],
    ['redirect_uri', 'https://203.0.113.7:8443/a%20b?c=[d]'],
    ['site', 'https://shop.example/#tea'],
    ['sum', '0.01'],
  ])('allows: %s %s', (name, text) => {
    const { allows, accepts } = BY_FIELD.find(({ field }) => field === name) ?? {};
    expect([allows?.(text), accepts?.(text)]).toEqual([true, true]);
  });

  it('has patterns that take no exponential time', () => {
    const worst = `${'🍵'.repeat(49)}${'क'.repeat(50)}\0`;
    for (const { allows } of BY_FIELD) expect(allows(worst)).toBe(false);
  });
});
