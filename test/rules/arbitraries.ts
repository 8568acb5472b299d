import fc from 'fast-check';
import { dayOf } from '../../src/rules/common/lifetimes.ts';
import type { Limit } from '../../src/rules/common/money.ts';
import { findInvisibleCharacter } from '../../src/rules/common/text.ts';
import type { MoneySource } from '../../src/rules/scope/rights.ts';
import { BUILT_IN_RIGHTS, isRightName, LIFTABLE, type RightKind } from '../../src/rules/scope/rights.ts';
import type { Right } from '../../src/rules/scope/scope.ts';
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
  .filter((value) => findInvisibleCharacter(value) === undefined);

const sum = fc
  .tuple(
    fc.integer({ min: 0, max: 999_999_999_999 }),
    fc.option(fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 2 })),
  )
  .map(([whole, decimals]) => (decimals === null ? `${whole}` : `${whole}.${decimals}`))
  .filter((value) => Number(value) > 0);

const day = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map(dayOf);

const limit: fc.Arbitrary<Limit> = fc
  .option(
    fc.tuple(fc.option(fc.integer({ min: 1, max: 9999 })), sum, fc.option(sum), fc.option(day, { freq: 1 })),
  )
  .map((written) => {
    if (written === null) return DEFAULT;
    const [days, sum, each, until] = written;
    const further = { ...(days !== null && each !== null && { each }), ...(until !== null && { until }) };
    return { ...rubles(days, sum), ...further };
  });

/** The content of a right's parentheses. */
const named = {
  shop: fc.record({ target }),
  account: fc.record({ target, type: fc.constantFrom('account', 'phone', 'email') }),
  sources: fc.record({
    sources: fc.array(fc.constantFrom<MoneySource[]>('wallet', 'card'), { minLength: 1, maxLength: 3 }),
  }),
};

/** A right of this kind. The grammar has a default limit for built-in ones only. */
const rightOf = ([name, { names, spends }]: readonly [string, RightKind]): fc.Arbitrary<Right> => {
  const own: fc.Arbitrary<object> = names === undefined ? fc.constant({}) : named[names];
  return fc.tuple(own, limit).map(([texts, limit]) => {
    const isWritten = BUILT_IN_RIGHTS.has(name) || !limit.isDefault;
    return { name, ...texts, ...(spends && isWritten && { limit }) };
  });
};

const right = fc.constantFrom(...BUILT_IN_RIGHTS).chain(rightOf);

/** Everything in the grammar, contradictions included. */
export const rights: fc.Arbitrary<Right[]> = fc.array(right, { minLength: 1, maxLength: 6 });

/** Names that are not built in; some begin, end or continue like a built-in one or a limit. */
const ownName = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'payment', 'payment-shop', 'constructor', ':read', '.limit', '.', '_', '-', '7'),
      fc.constantFrom(...'bcdefghijklmnopqrstuvwxyz0123456789'),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''))
  .filter((name) => isRightName(name) && !BUILT_IN_RIGHTS.has(name));

/** Any right that the grammar reads, whether or not a catalogue has it: foreign ones have any form. */
const anyRight: fc.Arbitrary<Right> = fc.oneof(
  right,
  fc
    .record({
      name: ownName,
      names: fc.constantFrom(undefined, 'shop' as const, 'account' as const),
      spends: fc.boolean(),
    })
    .chain(({ name, ...kind }) => rightOf([name, { ...kind, lifts: [] }])),
);
export const anyRights: fc.Arbitrary<Right[]> = fc.array(anyRight, { minLength: 1, maxLength: 6 });

/** A custom right, as an operator's file has it. */
export interface OwnRight {
  readonly text: string;
  readonly spends?: boolean | undefined;
  readonly names?: 'shop' | 'account' | undefined;
  readonly lifts?: readonly (typeof LIFTABLE)[number][] | undefined;
  readonly part_of?: string | undefined;
}

const ownRight = fc.record({
  name: ownName,
  spends: fc.option(fc.boolean(), { nil: undefined }),
  names: fc.constantFrom(undefined, 'shop' as const, 'account' as const),
  lifts: fc.option(fc.subarray([...LIFTABLE]), { nil: undefined }),
  whole: fc.option(fc.nat()),
});

/** An operator's file with some built-in rights and then custom ones. */
export const catalogueFile = fc
  .tuple(
    fc.subarray([...BUILT_IN_RIGHTS]),
    fc.uniqueArray(ownRight, { selector: ({ name }) => name, minLength: 1, maxLength: 6 }),
  )
  .map(([builtIn, own]) => {
    const file: Record<string, string | OwnRight> = Object.fromEntries(
      builtIn.map(([name, { names }]) => [name, names ? `${name}: {target}` : name]),
    );
    for (const [at, { name, whole, ...kind }] of own.entries()) {
      const before = Object.keys(file);
      const part_of = whole === null ? undefined : before[whole % before.length];
      file[name] = { ...kind, text: kind.names ? `Own no. ${at}: {target}` : `Own no. ${at}`, part_of };
    }
    return file;
  });

/** Some rights of a catalogue, each in its form there. */
export const rightsAmong = (catalogue: ReadonlyMap<string, RightKind>): fc.Arbitrary<Right[]> =>
  fc.array(fc.constantFrom(...catalogue).chain(rightOf), { minLength: 1, maxLength: 4 });

/** The grammar's words in any order: some of these texts are scopes, most are nearly one. */
export const scopeLike = fc.string({
  unit: fc.constantFrom(
    ...[...BUILT_IN_RIGHTS.keys()].filter((name) => BUILT_IN_RIGHTS.get(name)?.names === undefined),
    ...['payment', '.to-pattern("7")', '.to-account("1","phone")', '.to-account(', '.limit(1,5)'],
    ...[
      '.limit(,5)',
      '.each(5)',
      '.until(2027-06-30)',
      'money-source("wallet")',
      'money-source(',
      '"card"',
      '0',
      '12',
      '\t',
    ],
    ...['"', '\\', '(', ')', ',', '.', ' '],
    ...['\0', '\n', '\u202e', 'é', '\u{1f4b3}'],
  ),
  maxLength: 12,
});
