import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCatalogue } from '../../src/languages/catalogue.ts';
import { parseRequestedScope } from '../../src/rules/request/scopeRules.ts';
import { type RightJson, rightData } from '../../src/rules/scope/rightData.ts';
import { BUILT_IN_RIGHTS, LIFTABLE, type RightKinds } from '../../src/rules/scope/rights.ts';
import { formatScope, type Right } from '../../src/rules/scope/scope.ts';
import { listForbiddenActions } from '../../src/rules/spending/bounds.ts';
import { anyRights, catalogueFile, forAny, rights, rightsAmong } from './arbitraries.ts';
import { BANK, SHOP } from './ownRightFiles.ts';
import { refusalOf, verdictOf } from './refusal.ts';
import { OFFER, parseScope } from './rubles.ts';

// Custom rights: a granted scope has its whole meaning in itself, even if the catalogue changes later.

const ANYBODY = { allowedRights: null, most: null };
const DEFAULT_LIMITS = [OFFER.defaultLimit, { days: 7, sum: '50.5' }, { days: 1, sum: '3000.00' }];

const asked = (scope: string, catalogue: RightKinds, defaultLimit = OFFER.defaultLimit) =>
  parseRequestedScope(scope, { ...OFFER, catalogue, defaultLimit }, ANYBODY);

/** Any catalogue, with some of its rights. */
const requests = catalogueFile.chain((file) => {
  const catalogue = parseCatalogue(JSON.stringify(file));
  return fc.record({
    file: fc.constant(file),
    catalogue: fc.constant(catalogue),
    list: rightsAmong(catalogue),
    defaultLimit: fc.constantFrom(...DEFAULT_LIMITS),
  });
});

describe('a scope with any rights', () => {
  it('is unchanged by formatting and parsing [ownRights-1]', () => {
    forAny(anyRights, (list) => {
      const printed = formatScope(list);
      expect(parseScope(printed)).toEqual(list);
      expect(formatScope(parseScope(printed))).toBe(printed);
    });
  });

  it.each([
    ...['a'.repeat(65), 'a.limit', 'a.limit("b")', 'a.limit(1,5)b', 'a("b")c', 'a()', 'a("b","c")'],
    ...['a("b","phone","d")', 'payment("b")', 'payment.limit(1,5)', '7a', 'https://wallet.example/read'],
  ])('is refused if malformed, with any catalogue: %s', (scope) => {
    for (const catalogue of [BANK, SHOP, OFFER.catalogue])
      expect(verdictOf(() => asked(scope, catalogue))).toBe('invalid_scope');
    expect(verdictOf(() => parseScope(scope))).toBe('invalid_scope');
  });
});

describe('a request for rights of a catalogue', () => {
  it('is granted as a complete scope that means the same without the catalogue', () => {
    forAny(requests, ({ catalogue, list, defaultLimit }) => {
      const scope = formatScope(list);
      fc.pre(verdictOf(() => asked(scope, catalogue, defaultLimit)) === undefined);
      const granted = asked(scope, catalogue, defaultLimit);
      expect(parseScope(granted.scope)).toEqual(granted.rights);
      expect(asked(granted.scope, catalogue, defaultLimit)).toEqual(granted);
      for (const [at, { name, target, limit, type }] of granted.rights.entries()) {
        expect({ name, target }).toEqual({ name: list[at]?.name, target: list[at]?.target });
        expect(limit !== undefined).toBe(catalogue.get(name)?.spends ?? false);
        expect(type !== undefined).toBe(catalogue.get(name)?.names === 'account');
      }
    });
  });

  it('lists under “can’t” only acts that its rights don’t allow, with or without the catalogue', () => {
    forAny(requests, ({ file, catalogue, list }) => {
      const lifted = list.flatMap(({ name }) => {
        const own = file[name];
        if (typeof own === 'string' || own === undefined)
          return [...(BUILT_IN_RIGHTS.get(name)?.lifts ?? [])];
        return own.lifts ?? LIFTABLE.filter((bound) => own.spends || bound.startsWith('see_'));
      });
      const isOwn = list.some(({ name }) => !BUILT_IN_RIGHTS.has(name));
      const promised = new Set<string>(listForbiddenActions(list, catalogue));
      expect(lifted.filter((bound) => promised.has(bound))).toEqual([]);
      const later = new Set<string>(listForbiddenActions(list, BUILT_IN_RIGHTS));
      expect((isOwn ? LIFTABLE : lifted).filter((bound) => later.has(bound))).toEqual([]);
    });
  });

  it.each<[string, string, RegExp]>([
    ['a limit on a non-payment right', 'statements:read.limit(7,5000)', /statements:read accepts no limit/],
    ['no target', 'transfer.to', /transfer\.to needs a target/],
    ['a target of a right that takes none', 'statements:read("x")', /statements:read accepts no target/],
    ['a target and a type of a right that takes none', 'transfer("7","phone")', /transfer accepts no target/],
    ['a target type of a shop', 'points:spend("7","account")', /points:spend accepts one target/],
    ['the same right twice', 'transfer.to("7") transfer.to("7","account")', /the same right twice/],
    ['mixed kinds of limits', 'transfer.limit(,5) points:spend("7")', /period limit and a one-time limit/],
  ])('is refused with %s: %s', (_what, scope, rule) => {
    const refusal = refusalOf(() => asked(scope, new Map([...BANK, ...SHOP])));
    expect(refusal.code).toBe('invalid_scope');
    expect(refusal.rule).toMatch(rule);
  });

  it('is refused if one of its rights includes another, even indirectly, in any order', () => {
    const text = (at: number) => ({ text: `See no. ${at}` });
    const file = {
      'payment-shop': 'Pay any shop',
      'pay:books': { ...text(1), part_of: 'payment-shop' },
      'pay:comics': { ...text(2), part_of: 'pay:books' },
    };
    const catalogue = parseCatalogue(JSON.stringify(file));
    for (const [part, whole] of [
      ['pay:comics', 'payment-shop'],
      ['pay:comics', 'pay:books'],
      ['pay:books', 'payment-shop'],
    ] as const)
      for (const scope of [`${part} ${whole}`, `${whole} ${part}`])
        expect(refusalOf(() => asked(scope, catalogue)).rule).toBe(`scope: ${whole} with ${part}`);
  });
});

describe('a right that is not in the catalogue', () => {
  it('can’t be requested in any form, but can be imported', () => {
    forAny(anyRights, (list) => {
      const scope = formatScope(list);
      const isOwn = list.some(({ name }) => !BUILT_IN_RIGHTS.has(name));
      if (isOwn) expect(verdictOf(() => asked(scope, OFFER.catalogue))).toBe('invalid_scope');
      const imported = () => parseRequestedScope(scope, { ...OFFER, defaultLimit: null }, ANYBODY);
      if (verdictOf(imported) === undefined) expect(imported()).toEqual({ scope, rights: list });
      else expect(['contradiction', 'unclear_target']).toContain(refusalOf(imported).ruleId);
    });
  });

  it('is checked at an import, too: a right of the catalogue then gets no default limit', () => {
    const offer = { ...OFFER, catalogue: BANK, defaultLimit: null };
    const imported = (scope: string) => () => parseRequestedScope(scope, offer, ANYBODY);
    expect(refusalOf(imported('transfer')).rule).toBe('scope: transfer needs a limit');
    expect(verdictOf(imported('statements:read("7")'))).toBe('invalid_scope');
    expect(verdictOf(imported('read:user read:user'))).toBe('invalid_scope');
  });
});

/** The scope, made of nothing but the data. */
function written(one: RightJson): string {
  const { right, target, target_type, sources, period_days, amount, largest, until } = one;
  const texts = (target === undefined ? (sources ?? []) : [target, target_type]).filter(
    (text) => text !== undefined,
  );
  const quoted = texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
  const limit = amount === undefined ? '' : `.limit(${period_days ?? ''},${amount})`;
  const each = largest === undefined ? '' : `.each(${largest})`;
  const end = until === undefined ? '' : `.until(${until})`;
  return right + (quoted.length > 0 ? `(${quoted.join(',')})` : '') + limit + each + end;
}
const withLimit = (right: Right) => ({
  ...right,
  limit: right.limit && { ...right.limit, isDefault: undefined },
});

it('the rights as data for a resource server contain the whole scope in fields that need no parsing', () => {
  forAny(rights, (list) => {
    const scope = rightData(parseScope(formatScope(list)))
      .map(written)
      .join(' ');
    expect(parseScope(scope)).toEqual(list.map(withLimit));
  });
});
