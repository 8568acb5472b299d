import fc from 'fast-check';
import type { Limit } from '../../src/rules/common/money.ts';
import { findUnclear } from '../../src/rules/common/text.ts';
import { BUILT_IN_NAMES, BUILT_IN_RIGHTS } from '../../src/rules/scope/rights.ts';
import type { MoneySource, Right } from '../../src/rules/scope/scope.ts';
import { DEFAULT, rubles } from './rubles.ts';

/** Checks a property of any values of these kinds. */
export function forAny<Values extends [unknown, ...unknown[]]>(
  ...property: [...{ [At in keyof Values]: fc.Arbitrary<Values[At]> }, (...values: Values) => void]
): void {
  fc.assert(fc.property(...property));
}

/** One character of all there are, a third of them ASCII; fast-check's own `binary` takes a second to build. */
export const character = fc
  .oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

export const anyString = fc.string({ unit: character });

/** Any text that can be sent: no NUL. */
export const text = (constraints: fc.StringConstraints = {}) =>
  fc.string({ unit: character, ...constraints }).filter((value) => !value.includes('\0'));

/** Texts of 1 to 128 characters that a scope can name, with the characters of the grammar among them. */
const target = fc
  .string({
    unit: fc.oneof(fc.constantFrom('"', '\\', ')', '(', ',', '$'), character),
    minLength: 1,
    maxLength: 128,
  })
  .filter((value) => findUnclear(value) === undefined);

const sum = fc
  .tuple(
    fc.integer({ min: 0, max: 999_999_999_999 }),
    fc.option(fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 2 })),
  )
  .map(([whole, decimals]) => (decimals === null ? `${whole}` : `${whole}.${decimals}`))
  .filter((value) => Number(value) > 0);

const limit: fc.Arbitrary<Limit> = fc
  .option(fc.tuple(fc.option(fc.integer({ min: 1, max: 9999 })), sum))
  .map((written) => (written === null ? DEFAULT : rubles(...written)));

/** What stands in the parentheses of a right. */
const named = {
  shop: fc.record({ target }),
  account: fc.record({ target, type: fc.constantFrom('account', 'phone', 'email') }),
  sources: fc.record({
    sources: fc.array(fc.constantFrom<MoneySource[]>('wallet', 'card'), { minLength: 1, maxLength: 3 }),
  }),
};

/** Each right, by what `rights.ts` says of it. */
const right: fc.Arbitrary<Right> = fc.constantFrom(...BUILT_IN_RIGHTS).chain(([name, kind]) => {
  const { names, spends } = kind;
  const own: fc.Arbitrary<object> = names === undefined ? fc.constant({}) : named[names];
  return fc.tuple(own, limit).map(([texts, limit]) => ({ name, ...texts, ...(spends && { limit }) }));
});

/** What the grammar can say, contradictions included. */
export const rights: fc.Arbitrary<Right[]> = fc.array(right, { minLength: 1, maxLength: 6 });

/** Texts of the grammar's own words in any order: some are scopes, most are nearly one. */
export const scopeLike = fc.string({
  unit: fc.constantFrom(
    ...BUILT_IN_NAMES.filter((name) => BUILT_IN_RIGHTS.get(name)?.names === undefined),
    ...['payment', '.to-pattern("7")', '.to-account("1","phone")', '.to-account(', '.limit(1,5)'],
    ...['.limit(,5)', 'money-source("wallet")', 'money-source(', '"card"', '0', '12', '\t'],
    ...['"', '\\', '(', ')', ',', '.', ' '],
    ...['\0', '\n', '\u202e', 'é', '\u{1f4b3}'],
  ),
  maxLength: 12,
});
