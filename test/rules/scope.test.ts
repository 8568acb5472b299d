import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatScope, type Right } from '../../src/rules/scope/scope.ts';
import { anyString, character, forAny, rights, scopeLike } from './arbitraries.ts';
import { refusalOf, verdictOf } from './refusal.ts';
import { DEFAULT, parseScope, rubles } from './rubles.ts';

const PATTERN = { name: 'payment.to-pattern', target: '337', limit: DEFAULT } as const;
const ACCOUNT = { name: 'payment.to-account', target: '41001', type: 'account', limit: DEFAULT } as const;

describe('scopes.md: the grammar of a scope', () => {
  it.each<[string, Right[]]>([
    ['payment-shop.limit(7,300)', [{ name: 'payment-shop', limit: rubles(7, '300') }]],
    ['payment.to-pattern("337").limit(30,5000)', [{ ...PATTERN, limit: rubles(30, '5000') }]],
    ['payment.to-account("41001","account")', [ACCOUNT]],
    ['payment.to-account("41001","phone")', [{ ...ACCOUNT, type: 'phone' }]],
    ['payment.to-account("41001", "email")', [{ ...ACCOUNT, type: 'email' }]],
    ['money-source("cards")', [{ name: 'money-source', sources: ['card'] }]],
    ['money-source("card", "wallet")', [{ name: 'money-source', sources: ['card', 'wallet'] }]],
    ['  account-info   payment-p2p ', [{ name: 'account-info' }, { name: 'payment-p2p', limit: DEFAULT }]],
    [String.raw`payment.to-pattern("a\"\\)")`, [{ ...PATTERN, target: String.raw`a"\)` }]],
    [`payment.to-pattern("${'💳'.repeat(128)}")`, [{ ...PATTERN, target: '💳'.repeat(128) }]],
    [`payment.to-pattern("${'\\"'.repeat(128)}")`, [{ ...PATTERN, target: '"'.repeat(128) }]],
    ['payment.to-pattern("a b, (c) .limit(1,5)")', [{ ...PATTERN, target: 'a b, (c) .limit(1,5)' }]],
  ])('reads %s', (scope, expected) => {
    expect(parseScope(scope)).toEqual(expected);
  });

  it.each([
    ['(9999,1)', rubles(9999, '1')],
    ['(1, 300)', rubles(1, '300')],
    ['(, 300)', rubles(null, '300')],
    ['(,0.01)', rubles(null, '0.01')],
    ['(10,999999999999.99)', rubles(10, '999999999999.99')],
  ])('reads the limit %s, and keeps its sum exactly as written', (limit, expected) => {
    expect(parseScope(`payment-shop.limit${limit}`)).toEqual([{ name: 'payment-shop', limit: expected }]);
  });

  it.each([
    ['(7,5000).each(500)', { ...rubles(7, '5000'), each: '500' }],
    ['(7,5000).each(5000.00)', { ...rubles(7, '5000'), each: '5000.00' }],
    ['(7,5000).until(2028-02-29)', { ...rubles(7, '5000'), until: '2028-02-29' }],
    ['(,300).until(2027-06-30)', { ...rubles(null, '300'), until: '2027-06-30' }],
    ['(1,5).each(0.01).until(1999-12-31)', { ...rubles(1, '5'), each: '0.01', until: '1999-12-31' }],
  ])('reads the largest payment and the last day of %s, and prints them as they were', (limit, expected) => {
    const scope = `payment-shop.limit${limit}`;
    expect(parseScope(scope)).toEqual([{ name: 'payment-shop', limit: expected }]);
    expect(formatScope(parseScope(scope))).toBe(scope);
  });

  it.each([
    ['a sum but no period', '(300)'],
    ['a period of 5 digits', '(10000,1)'],
    ['a period of 0 days', '(0,1)'],
    ['no sum', '(1,)'],
    ['a sum of zero with decimals', '(1,0.00)'],
    ['a negative sum', '(1,-5)'],
    ['a sum of 13 digits', '(1,1000000000000)'],
    ['3 decimals', '(1,1.001)'],
    ['a point without decimals', '(1,1.)'],
    ['an exponent', '(1,1e3)'],
    ['digits of another script', '(1,٣)'],
    ['a space before the comma', '(1 ,5)'],
    ['two spaces after the comma', '(1,  5)'],
    ['no closing parenthesis', '(1,5'],
    ['no parentheses', ''],
    ['a second limit after it', '(1,5).limit(1,5)'],
    ['a largest payment after a one-time limit', '(,5).each(5)'],
    ['a second largest payment', '(1,5).each(1).each(1)'],
    ['a largest payment of zero', '(1,5).each(0)'],
    ['a largest payment with a period', '(1,5).each(1,5)'],
    ['an unclosed largest payment', '(1,5).each(1'],
    ['a largest payment after the last day', '(1,5).until(2027-06-30).each(1)'],
    ['a second last day', '(1,5).until(2027-06-30).until(2027-06-30)'],
    ['a last day that does not exist', '(1,5).until(2027-02-29)'],
    ['a last day in month 13', '(1,5).until(2027-13-01)'],
    ['a year of 2 digits', '(1,5).until(26-01-01)'],
    ['a year of 5 digits', '(1,5).until(12027-01-01)'],
    ['a last day with a time', '(1,5).until(2027-06-30T00:00)'],
    ['a quoted last day', '(1,5).until("2027-06-30")'],
    ['an unclosed last day', '(1,5).until(2027-06-30'],
    ['no last day', '(1,5).until()'],
  ])('7.1 refuses a limit with %s', (_what, limit) => {
    for (const right of ['payment-shop', 'payment.to-pattern("1")', 'payment.to-account("1")'])
      expect(verdictOf(() => parseScope(`${right}.limit${limit}`))).toBe('invalid_scope');
  });

  it.each([
    ['a scope of spaces only', '   '],
    ['the name “payment” alone', 'payment'],
    ['a payment without a target', 'payment.to-pattern'],
    ['a payment with empty parentheses', 'payment.to-pattern()'],
    ['a target without quotes', 'payment.to-pattern(337)'],
    ['a payment to a shop with a target type', 'payment.to-pattern("1","account")'],
    ['an unknown target type of an account', 'payment.to-account("1","card")'],
    ['three strings for an account', 'payment.to-account("1","phone","2")'],
    ['a target of 129 characters', `payment.to-pattern("${'x'.repeat(129)}")`],
    ['an empty target', 'payment.to-pattern("")'],
    ['an unclosed quotation mark', 'payment.to-pattern("a'],
    ['an escaped character other than a quote or backslash', String.raw`payment.to-pattern("\n")`],
    ['a comma without a string after it', 'payment.to-account("a",)'],
    ['a space before a comma', 'payment.to-account("a" ,"phone")'],
    ['two spaces after a comma', 'payment.to-account("a",  "phone")'],
    ['two strings without a comma between them', 'payment.to-account("a""phone")'],
    ['a target of a right that takes none', 'payment-shop("1")'],
    ['a limit on a right that spends nothing', 'account-info.limit(1,5)'],
    ['a largest payment before the limit', 'payment-shop.each(1).limit(1,5)'],
    ['a largest payment without a limit', 'payment.to-pattern("1").each(1)'],
    ['a last day without a limit', 'payment-shop.until(2027-06-30)'],
    ['an empty list of money sources', 'money-source()'],
    ['an unknown money source', 'money-source("cash")'],
    ['no space between rights', 'payment.to-pattern("1")account-info'],
    ['a line break at the end', 'account-info\n'],
    ['a space before the target', 'payment.to-pattern ("1")'],
  ])('7.1 refuses %s', (_what, scope) => {
    expect(verdictOf(() => parseScope(scope))).toBe('invalid_scope');
  });

  it('logs the position of the error, and shows the user no part of the scope', () => {
    const refusal = refusalOf(() => parseScope('money-source("card",b)'));
    expect(refusal.rule).toBe('scope: expected a string in double quotes before or at character 21');
    expect(refusal.message).toBe('The parameter scope has a value that is not a right of this service.');
    const wrongDay = refusalOf(() => parseScope('payment-p2p.limit(1,5).until(2027-02-29)'));
    expect(wrongDay.rule).toMatch(/^scope: expected a day such as 2027-06-30 before or at character \d+$/);
  });
});

it.each([
  ['  account-info  payment-p2p ', 'account-info payment-p2p'],
  ['money-source("cards", "wallet")', 'money-source("card","wallet")'],
  ['payment.to-account("1", "account").limit(, 5.00)', 'payment.to-account("1").limit(,5.00)'],
  ['payment.to-account("1", "email")', 'payment.to-account("1","email")'],
  [String.raw`payment.to-pattern("\"\\$&")`, String.raw`payment.to-pattern("\"\\$&")`],
])('a scope is formatted in its shortest form: %s', (scope, printed) => {
  expect(formatScope(parseScope(scope))).toBe(printed);
  expect(parseScope(printed)).toEqual(parseScope(scope));
});

/** A valid scope in which one character was replaced, dropped or put in. */
const damaged = fc
  .tuple(rights, fc.nat(), fc.nat({ max: 1 }), fc.oneof(fc.constantFrom('', '"', '\\', ' '), character))
  .map(([list, at, dropped, put]) => {
    const scope = formatScope(list);
    const index = at % scope.length;
    return scope.slice(0, index) + put + scope.slice(index + dropped);
  });
const anything = fc.oneof(anyString, fc.string(), scopeLike, damaged);

it('scopes of any characters are parsed, or refused with invalid_scope only', () => {
  forAny(anything, (scope) => {
    const verdict = verdictOf(() => parseScope(scope));
    expect([undefined, 'invalid_scope']).toContain(verdict);
    if (verdict !== undefined) return;
    const read = parseScope(scope);
    expect(read.length).toBeGreaterThan(0);
    expect(parseScope(formatScope(read))).toEqual(read);
  });
});
