import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatScope } from '../../src/rules/scope/formatScope.ts';
import { RIGHT_NAMES } from '../../src/rules/scope/rights.ts';
import { type Right, spends } from '../../src/rules/scope/scope.ts';
import { anyString, character, rights, scopeLike } from './arbitraries.ts';
import { refusalOf, verdictOf } from './refusal.ts';
import { DEFAULT, parseScope, rubles } from './rubles.ts';

const BARE = ['account-info', 'operation-history', 'operation-details', 'incoming-transfers'] as const;
const PATTERN = { name: 'payment.to-pattern', target: '337', limit: DEFAULT } as const;
const ACCOUNT = { name: 'payment.to-account', target: '41001', type: 'account', limit: DEFAULT } as const;

describe('scopes.md: the grammar of a scope', () => {
  it.each<[string, Right[]]>([
    ...BARE.map((name): [string, Right[]] => [name, [{ name }]]),
    ['payment-shop', [{ name: 'payment-shop', limit: DEFAULT }]],
    ['payment-p2p', [{ name: 'payment-p2p', limit: DEFAULT }]],
    ['payment-shop.limit(7,300)', [{ name: 'payment-shop', limit: rubles(7, '300') }]],
    ['payment-p2p.limit(,10.5)', [{ name: 'payment-p2p', limit: rubles(null, '10.5') }]],
    ['payment.to-pattern("337")', [PATTERN]],
    ['payment.to-pattern("337").limit(30,5000)', [{ ...PATTERN, limit: rubles(30, '5000') }]],
    ['payment.to-account("41001")', [ACCOUNT]],
    ['payment.to-account("41001","account")', [ACCOUNT]],
    ['payment.to-account("41001","phone")', [{ ...ACCOUNT, type: 'phone' }]],
    ['payment.to-account("41001", "email")', [{ ...ACCOUNT, type: 'email' }]],
    ['payment.to-account("41001").limit(,300)', [{ ...ACCOUNT, limit: rubles(null, '300') }]],
    ['money-source("wallet")', [{ name: 'money-source', sources: ['wallet'] }]],
    ['money-source("card")', [{ name: 'money-source', sources: ['card'] }]],
    ['money-source("cards")', [{ name: 'money-source', sources: ['card'] }]],
    ['money-source("card", "wallet")', [{ name: 'money-source', sources: ['card', 'wallet'] }]],
    ['account-info operation-history', [{ name: 'account-info' }, { name: 'operation-history' }]],
    ['operation-history account-info', [{ name: 'operation-history' }, { name: 'account-info' }]],
    ['  account-info   payment-p2p ', [{ name: 'account-info' }, { name: 'payment-p2p', limit: DEFAULT }]],
    ['payment.to-pattern("a b") account-info', [{ ...PATTERN, target: 'a b' }, { name: 'account-info' }]],
    [String.raw`payment.to-pattern("a\"\\)")`, [{ ...PATTERN, target: String.raw`a"\)` }]],
    [`payment.to-pattern("${'💳'.repeat(128)}")`, [{ ...PATTERN, target: '💳'.repeat(128) }]],
    [`payment.to-pattern("${'\\"'.repeat(128)}")`, [{ ...PATTERN, target: '"'.repeat(128) }]],
    ['payment.to-pattern("a b, (c) .limit(1,5)")', [{ ...PATTERN, target: 'a b, (c) .limit(1,5)' }]],
    [String.raw`payment.to-account("a\\","phone")`, [{ ...ACCOUNT, target: 'a\\', type: 'phone' }]],
    ['payment.to-pattern("Кофе ☕")', [{ ...PATTERN, target: 'Кофе ☕' }]],
  ])('reads %s', (scope, expected) => {
    expect(parseScope(scope)).toEqual(expected);
  });

  it.each([
    ['(1,3000)', rubles(1, '3000')],
    ['(9999,1)', rubles(9999, '1')],
    ['(1, 300)', rubles(1, '300')],
    ['(, 300)', rubles(null, '300')],
    ['(,0.01)', rubles(null, '0.01')],
    ['(,0.1)', rubles(null, '0.1')],
    ['(,300.00)', rubles(null, '300.00')],
    ['(10,999999999999.99)', rubles(10, '999999999999.99')],
  ])('reads the limit %s, its sum exactly as written', (limit, expected) => {
    expect(parseScope(`payment-shop.limit${limit}`)).toEqual([{ name: 'payment-shop', limit: expected }]);
  });

  it.each([
    ['no days at all', '(300)'],
    ['days of 5 digits', '(10000,1)'],
    ['no day', '(0,1)'],
    ['negative days', '(-1,1)'],
    ['a part of a day', '(1.5,1)'],
    ['no sum', '(1,)'],
    ['a sum of zero', '(1,0)'],
    ['a sum of zero with decimals', '(1,0.00)'],
    ['a negative sum', '(1,-5)'],
    ['a sign', '(1,+5)'],
    ['a sum of 13 digits', '(1,1000000000000)'],
    ['3 decimals', '(1,1.001)'],
    ['a point without decimals', '(1,1.)'],
    ['a point without a digit before', '(1,.5)'],
    ['a decimal comma', '(1,1,5)'],
    ['an exponent', '(1,1e3)'],
    ['a hexadecimal sum', '(1,0x10)'],
    ['a word', '(1,all)'],
    ['digits of another script', '(1,٣)'],
    ['a space before the comma', '(1 ,5)'],
    ['two spaces after the comma', '(1,  5)'],
    ['a space before the sum of nothing', '(1, )'],
    ['a space at the end', '(1,5 )'],
    ['no closing parenthesis', '(1,5'],
    ['empty parentheses', '()'],
    ['no parentheses', ''],
    ['a second limit', '(1,5).limit(1,5)'],
  ])('7.1 refuses a limit with %s', (_what, limit) => {
    for (const right of ['payment-shop', 'payment.to-pattern("1")', 'payment.to-account("1")'])
      expect(refusalOf(() => parseScope(`${right}.limit${limit}`)).code).toBe('invalid_scope');
  });

  it.each([
    ['nothing', ''],
    ['spaces only', '   '],
    ['an unknown right', 'account'],
    ['a right of another family', 'openid'],
    ['another case', 'Account-Info'],
    ['another case within', 'account-Info'],
    ['a longer name', 'account-infos'],
    ['bare payment', 'payment'],
    ['payment with parentheses', 'payment("1")'],
    ['an unknown payment', 'payment.to-phone("1")'],
    ['a payment without a target', 'payment.to-pattern'],
    ['a payment with empty parentheses', 'payment.to-pattern()'],
    ['a target without quotes', 'payment.to-pattern(337)'],
    ['two shops in one right', 'payment.to-pattern("1","2")'],
    ['a shop with a type', 'payment.to-pattern("1","account")'],
    ['an unknown type of account', 'payment.to-account("1","card")'],
    ['an empty type of account', 'payment.to-account("1","")'],
    ['a type in another case', 'payment.to-account("1","Phone")'],
    ['three strings for an account', 'payment.to-account("1","phone","2")'],
    ['a target of 129 characters', `payment.to-pattern("${'x'.repeat(129)}")`],
    ['an empty target', 'payment.to-pattern("")'],
    ['a target in single quotes', "payment.to-pattern('a')"],
    ['an open quote', 'payment.to-pattern("a'],
    ['an open parenthesis', 'payment.to-pattern("a"'],
    ['an escape of something else', String.raw`payment.to-pattern("\n")`],
    ['a backslash at the end', String.raw`payment.to-pattern("a\")`],
    ['a comma without a string', 'payment.to-account("a",)'],
    ['a space before a comma', 'payment.to-account("a" ,"phone")'],
    ['two spaces after a comma', 'payment.to-account("a",  "phone")'],
    ['a space inside the parenthesis', 'payment.to-pattern( "a")'],
    ['a space before the closing parenthesis', 'payment.to-pattern("a" )'],
    ['no comma', 'payment.to-account("a""phone")'],
    ['a target to a right that has none', 'payment-shop("1")'],
    ['a limit on a right that spends nothing', 'account-info.limit(1,5)'],
    ['a limit on the source of money', 'money-source("card").limit(1,5)'],
    ['a bare money-source', 'money-source'],
    ['no source', 'money-source()'],
    ['an unknown source', 'money-source("cash")'],
    ['a source in another case', 'money-source("Card")'],
    ['a source without quotes', 'money-source(card)'],
    ['a comma between rights', 'account-info,operation-history'],
    ['no space between rights', 'payment.to-pattern("1")account-info'],
    ['a tab between rights', 'account-info\toperation-history'],
    ['a line break at the end', 'account-info\n'],
    ['a no-break space', 'account-info\u00a0operation-history'],
    ['a plus that was not decoded', 'account-info+operation-history'],
    ['a space inside a right', 'payment .to-pattern("1")'],
    ['a space before the target', 'payment.to-pattern ("1")'],
    ['a space before the limit', 'payment-shop .limit(1,5)'],
    ['a valid right before an unknown one', 'account-info everything'],
  ])('7.1 refuses %s', (_what, scope) => {
    expect(refusalOf(() => parseScope(scope)).code).toBe('invalid_scope');
  });

  it('tells the log where it stopped, and the person nothing of what was sent', () => {
    const refusal = refusalOf(() => parseScope('money-source("card",b)'));
    expect(refusal.rule).toBe('scope: expected a text in double quotes before or at character 21');
    expect(refusal.message).toBe('The parameter scope has a value that is not a right of this service.');
  });

  it.each([
    ['payment-shop', DEFAULT],
    ['payment-p2p', DEFAULT],
    ['payment.to-pattern("1")', DEFAULT],
    ['payment.to-account("1")', DEFAULT],
    ['payment-shop.limit(,5)', rubles(null, '5')],
    ['payment-shop.limit(7,5)', rubles(7, '5')],
    ['account-info', undefined],
    ['money-source("card")', undefined],
  ])('the limit that holds for %s: the written one, or 3000 a day', (scope, limit) => {
    expect(parseScope(scope).map(({ limit }) => limit)).toEqual([limit]);
  });

  it.each([
    ['payment-shop', true],
    ['payment-p2p.limit(,5)', true],
    ['account-info payment.to-pattern("1")', true],
    ['payment.to-account("1") account-info', true],
    ['account-info operation-history operation-details incoming-transfers', false],
    ['money-source("wallet","card")', false],
  ])('whether %s spends: %s', (scope, expected) => {
    expect(spends(parseScope(scope))).toBe(expected);
  });
});

describe('formatting a scope', () => {
  it('parses back to the same rights, and prints the same again', () => {
    fc.assert(
      fc.property(rights, (list) => {
        const printed = formatScope(list);
        expect(parseScope(printed)).toEqual(list);
        expect(formatScope(parseScope(printed))).toBe(printed);
      }),
    );
  });

  it.each([
    ['  account-info  payment-p2p ', 'account-info payment-p2p'],
    ['money-source("cards", "wallet")', 'money-source("card","wallet")'],
    ['payment.to-account("1", "account").limit(, 5.00)', 'payment.to-account("1").limit(,5.00)'],
    ['payment.to-account("1", "email")', 'payment.to-account("1","email")'],
    [String.raw`payment.to-pattern("\"\\$&")`, String.raw`payment.to-pattern("\"\\$&")`],
  ])('writes %s in its shortest form', (scope, printed) => {
    expect(formatScope(parseScope(scope))).toBe(printed);
  });

  it('keeps the meaning of every spelling', () => {
    const spelling = fc.constantFrom(
      ...[
        'account-info',
        'payment-shop.limit(, 1)',
        'payment-p2p.limit(1,2.30)',
        'money-source("cards", "wallet")',
      ],
      ...['payment.to-account("1", "account")', 'payment.to-account("a b", "phone").limit(2, 3)'],
    );
    const spaces = fc.string({ unit: fc.constant(' '), minLength: 1, maxLength: 3 });
    const scopes = fc.array(fc.tuple(spelling, spaces), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(scopes, fc.boolean(), (elements, padded) => {
        const spaced = elements.flat().join('');
        const scope = padded ? `  ${spaced}` : spaced.trimEnd();
        expect(parseScope(scope)).toHaveLength(elements.length);
        expect(parseScope(formatScope(parseScope(scope)))).toEqual(parseScope(scope));
      }),
    );
  });
});

describe('scopes that nobody wrote on purpose', () => {
  it('have every right among them, so that the properties hold for a new one too', () => {
    const made = fc.sample(rights, { numRuns: 300, seed: 1 }).flatMap((each) => each.map(({ name }) => name));
    expect(new Set(made)).toEqual(new Set(RIGHT_NAMES));
  });

  /** A valid scope in which one character was replaced, dropped or put in. */
  const damaged = fc
    .tuple(
      rights,
      fc.nat(),
      fc.nat({ max: 1 }),
      fc.oneof(fc.constantFrom('', '"', '\\', ' '), fc.oneof(fc.constant(''), character)),
    )
    .map(([list, at, dropped, put]) => {
      const scope = formatScope(list);
      const index = at % scope.length;
      return scope.slice(0, index) + put + scope.slice(index + dropped);
    });
  const anything = fc.oneof(anyString, fc.string(), scopeLike, damaged);

  it('are refused with invalid_scope and nothing else', () => {
    fc.assert(
      fc.property(anything, (scope) => {
        expect([undefined, 'invalid_scope']).toContain(verdictOf(() => parseScope(scope)));
      }),
    );
  });

  it('have at least one right and only rights of the grammar when they are read', () => {
    fc.assert(
      fc.property(anything, (scope) => {
        fc.pre(verdictOf(() => parseScope(scope)) === undefined);
        const read = parseScope(scope);
        expect(read.length).toBeGreaterThan(0);
        for (const right of read) expect(RIGHT_NAMES).toContain(right.name);
        expect(parseScope(formatScope(read))).toEqual(read);
      }),
    );
  });
});
