import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_CATALOGUE } from '../../src/languages/catalogue.ts';
import { type Offer, parseRequestedScope, refuseWrongDays } from '../../src/rules/request/scopeRules.ts';
import { BUILT_IN_RIGHTS } from '../../src/rules/scope/rights.ts';
import { formatScope, grantedRights } from '../../src/rules/scope/scope.ts';
import { forAny, rights } from './arbitraries.ts';
import { refusalOf, verdictOf } from './refusal.ts';
import { OFFER, parseScope } from './rubles.ts';

const read = (scope: string, allowedRights: readonly string[] | null = null) =>
  parseRequestedScope(scope, OFFER, { allowedRights, most: null }).rights;

describe('contract 7.1: the check for contradictions in a scope', () => {
  it.each([
    ['the same right twice', 'payment.to-pattern("1") payment.to-pattern("1").limit(2,5)'],
    ['the same right twice', 'payment.to-account("1") payment.to-account("1","account")'],
    ['the same right twice', 'money-source("card") money-source("wallet")'],
    ['the same right twice', 'payment.to-pattern("12") payment.to-pattern("１２").limit(2,5)'],
    ['the same right twice', 'payment.to-account("ﬁ@x","email") payment.to-account("fi@x","email")'],
    ['the same right twice', 'payment.to-pattern("\u00e9") payment.to-pattern("e\u0301")'],
    ['two targets that look alike', 'payment.to-pattern("corner") payment.to-pattern("соrner")'],
    ['two targets that look alike', 'payment.to-pattern("раураӏ") payment.to-pattern("paypal").limit(2,5)'],
    ['two targets that look alike', 'payment.to-pattern("paypal") payment.to-pattern("paypaI")'],
    ['two targets that look alike', 'payment.to-pattern("ivan") payment.to-pattern("i\u0307van")'],
    ['two targets that look alike', 'payment.to-account("ΑΒ1") payment.to-account("AB1","account")'],
    ['two targets that look alike', 'payment.to-account("а@x","email") payment.to-account("a@x","email")'],
    ['two targets that look alike', 'payment.to-account("7123","phone") payment.to-account("+7123","phone")'],
    ['two targets that look alike', 'payment.to-pattern("a\u201db") payment.to-pattern("a\\"b")'],
    ['a source of money named twice', 'money-source("card","wallet","cards")'],
    ['payment-p2p with payment.to-account', 'payment-p2p payment.to-account("1")'],
    ['payment-shop with payment.to-pattern', 'payment-shop payment.to-pattern("1")'],
    ['a payment larger than all of them together', 'payment-shop.limit(7,5000).each(5000.01)'],
    [
      'a payment larger than all of them together',
      'payment-p2p.limit(7,10) payment-shop.limit(7,9).each(10)',
    ],
    ['a period limit and a one-time limit', 'payment.to-pattern("1") payment.to-pattern("2").limit(,5)'],
    ['a one-time payment with anything but money-source', 'payment-shop.limit(,5) operation-details'],
    ['a one-time payment with anything but money-source', 'payment-shop.limit(,5) payment-p2p.limit(,5)'],
  ])('refuses %s: %s', (rule, scope) => {
    const refusal = refusalOf(() => read(scope));
    expect(refusal.code).toBe('invalid_scope');
    expect(refusal.rule).toContain(rule);
  });

  it.each([
    'account-info operation-history operation-details incoming-transfers',
    'payment-shop payment-p2p',
    'payment-shop payment.to-account("1")',
    'payment-p2p payment.to-pattern("1")',
    'payment.to-pattern("1") payment.to-pattern("2").limit(7,5)',
    'payment.to-account("1") payment.to-account("1","phone")',
    'payment.to-account("1,phone") payment.to-account("1","phone")',
    'payment.to-pattern("1") payment.to-account("1")',
    'payment.to-pattern("a") payment.to-pattern("A")',
    'payment.to-pattern("2") payment.to-pattern("Z") payment.to-pattern("5") payment.to-pattern("S")',
    'payment.to-pattern("caffe") payment.to-pattern("caffè") payment.to-pattern("caf-fe")',
    'payment.to-pattern("магазин-1") payment.to-pattern("магазин-7")',
    'payment.to-pattern("+1") payment.to-pattern("1") payment.to-account("+1") payment.to-account("1")',
    'payment.to-pattern("а") payment.to-account("a") payment.to-account("а","phone")',
    'payment-shop.limit(,5)',
    'payment.to-pattern("1").limit(,5) money-source("wallet","card") account-info',
    'money-source("wallet","card")',
    'payment-shop.limit(1,5) payment-p2p.limit(30,9) operation-history',
    'payment-shop.limit(7,5000).each(5000.00) payment-p2p.limit(1,5).each(4).until(2027-06-30)',
    'payment-shop.limit(,5).until(2027-06-30) account-info',
  ])('accepts %s', (scope) => {
    expect(read(scope)).toEqual(parseScope(scope));
  });

  it('gives the same verdict in any order of the rights', () => {
    const shuffled = rights.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    forAny(shuffled, ([list, other]) => {
      expect(verdictOf(() => read(formatScope(other)))).toBe(verdictOf(() => read(formatScope(list))));
    });
  });

  it('refuses any duplicate right', () => {
    forAny(rights, fc.nat(), (list, index) => {
      const again = formatScope(list.concat(list[index % list.length] ?? []));
      expect(verdictOf(() => read(again))).toBe('invalid_scope');
    });
  });
});

describe('scopes.md: LIMITS', () => {
  const readWith = (furtherLimits: Offer['furtherLimits'], scope: string) =>
    parseRequestedScope(scope, { ...OFFER, furtherLimits }, { allowedRights: null, most: null }).scope;
  const [each, until] = ['payment-shop.limit(7,50).each(5)', 'payment-p2p.limit(7,50).until(2027-06-30)'];

  it.each<[furtherLimits: Offer['furtherLimits'], scope: string, rule: string]>([
    [[], each, 'payment-shop has .each, which LIMITS of this service does not name'],
    [[], until, 'payment-p2p has .until, which LIMITS of this service does not name'],
    [['until'], each, 'payment-shop has .each, which LIMITS of this service does not name'],
    [['each'], until, 'payment-p2p has .until, which LIMITS of this service does not name'],
  ])('of %j refuse %s', (furtherLimits, scope, rule) => {
    const refusal = refusalOf(() => readWith(furtherLimits, `account-info ${scope}`));
    expect([refusal.code, refusal.ruleId]).toEqual(['invalid_scope', 'unreadable_rights']);
    expect(refusal.rule).toBe(`scope: ${rule}`);
  });

  it('of one word allow it, and what was granted with others can be read', () => {
    expect(readWith(['each'], each)).toBe(each);
    expect(readWith(['until'], until)).toBe(until);
    const grant = { clientId: 'x', scope: `${each} ${until}` };
    expect(grantedRights(grant, 'RUB', new Date('2027-06-30'))).toHaveLength(2);
  });
});

describe('scopes.md: the last day of a right', () => {
  const now = new Date('2026-11-29T13:00:00Z');
  const refuse = (until: string) =>
    refuseWrongDays(parseScope(`account-info payment-shop.limit(7,5).until(${until})`), now);

  it.each(['2026-11-29', '2027-06-30', '2029-11-29'])('may be %s', (until) => {
    expect(() => refuse(until)).not.toThrow();
  });

  it.each([
    ['2026-11-28', 'ended_right', 'ended on 2026-11-28, in UTC'],
    ['0001-01-01', 'ended_right', 'ended on 0001-01-01, in UTC'],
    ['2029-11-30', 'right_outlives_token', 'ends on 2029-11-30, and its token on 2029-11-29, in UTC'],
    ['9999-12-31', 'right_outlives_token', 'ends on 9999-12-31, and its token on 2029-11-29, in UTC'],
  ])('may not be %s: %s', (until, ruleId, sentence) => {
    const refusal = refusalOf(() => refuse(until));
    expect([refusal.code, refusal.ruleId, refusal.rule]).toEqual([
      'invalid_scope',
      ruleId,
      `scope: payment-shop ${sentence}`,
    ]);
  });

  it.each([
    ['2027-06-30T23:59:59.999Z', 2],
    ['2027-07-01T00:00:00.000Z', 1],
  ])('ends with that day in UTC: at %s a grant has %i rights', (time, count) => {
    const grant = { clientId: 'x', scope: 'account-info payment-shop.limit(,5).until(2027-06-30)' };
    expect(grantedRights(grant, 'RUB', new Date(time))).toHaveLength(count);
  });
});

describe('scopes.md: the check of a target', () => {
  it.each([
    ['1 account-info 1', 'U+0020 at character 2'],
    ['\u202e41001', 'U+202E at character 1'],
    ['\u{1f4b3}\ufe0f', 'U+FE0F at character 2'],
  ])('refuses invisible characters, and those that split a scope: %j [scopeRules-1]', (target, unclear) => {
    for (const [right, type] of [
      ['payment.to-pattern', ''],
      ['payment.to-account', ',"email"'],
    ]) {
      const refusal = refusalOf(() => read(`account-info ${right}("${target}"${type}).limit(1,1)`));
      expect([refusal.code, refusal.rule]).toEqual([
        'invalid_scope',
        `scope: the target of ${right} has ${unclear}`,
      ]);
    }
  });

  it.each(['41001', 'anna+shop@example.com', 'магазин-7', '商店', 'x"\\\\', '１２'])(
    'accepts %j',
    (target) => {
      const quoted = target.replaceAll(/["\\]/g, '\\$&');
      expect(read(`payment.to-pattern("${quoted}")`)).toMatchObject([{ target: target }]);
    },
  );
});

describe('scopes.md: the check of a target that is an email address', () => {
  const address = (to: string) => `payment.to-account(${JSON.stringify(to)},"email")`;

  it.each([
    'anna@ꮪhop.example', // Cherokee
    'anna@рауpal',
    'алеksandr@пример.рф',
    'aлл@x',
    '𝐚нна@x', // a mathematical letter
    'ニko@x',
    '한あ@x',
    'אب@x',
  ])('refuses a word of two scripts: %s', (to) => {
    const { code, rule } = refusalOf(() => read(address(to)));
    expect([code, rule]).toEqual([
      'invalid_scope',
      'scope: the target of payment.to-account has letters of several scripts in one word',
    ]);
    expect(read(`payment.to-account(${JSON.stringify(to)})`)).toHaveLength(1);
  });

  it.each([
    ...["o'brien_1970@xn--e1afmkfd.xn--p1ai", 'jürgen.weiß@größe.example', 'ivan-петров@пример.рф'],
    ...[
      'анна2@почта.example',
      'νίκος@παράδειγμα.ελ',
      'たなか・田中タロー@例え.jp',
      '金김@예.kr',
      'ㄅㄆ王@例.tw',
    ],
    ...['أحمد١@مثال.example', 'निशा@उदाहरण.भारत', 'חיים@x', 'a\u0301b@x', '\u{1f4b3}@x'],
  ])('accepts %s', (to) => {
    expect(read(address(to))).toMatchObject([{ target: to }]);
  });

  it('refuses any look-alike letter of another script', () => {
    const TWINS = { a: 'а', c: 'с', e: 'е', o: 'о', p: 'р', x: 'х', y: 'у', i: 'і', v: 'ν', n: 'ո' };
    const word = fc.string({ unit: fc.constantFrom(...Object.keys(TWINS)), minLength: 2, maxLength: 20 });
    const separator = fc.constantFrom('.', '-', '+', '@');
    forAny(word, word, separator, fc.nat(), (first, last, between, at) => {
      const honest = `${first}${between}${last}`;
      const index = at % first.length;
      const twin = TWINS[first[index] as keyof typeof TWINS];
      const forged = first.slice(0, index) + twin + honest.slice(index + 1);
      expect(read(address(honest))).toHaveLength(1);
      expect(verdictOf(() => read(address(forged)))).toBe('invalid_scope');
      const both = `payment.to-pattern("${honest}") payment.to-pattern("${forged}")`;
      expect(refusalOf(() => read(both)).rule).toBe('scope: two targets that look alike');
    });
  });
});

it('scopes.md: the targets of a scope may be any different numbers of any length, or hexadecimal ids', () => {
  const id = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 1, maxLength: 32 }),
  );
  forAny(fc.uniqueArray(id, { minLength: 2, maxLength: 6 }), (ids) => {
    const scope = ids.map((one) => `payment.to-pattern("${one}")`).join(' ');
    expect(read(scope)).toHaveLength(ids.length);
  });
});

describe('scopes.md: the check against the catalogue and the allowed rights', () => {
  it('the built-in catalogue offers every right of the grammar', () => {
    expect([...BUILT_IN_CATALOGUE.keys()]).toEqual([...BUILT_IN_RIGHTS.keys()]);
  });

  it.each([
    ['a scope of OpenID Connect', 'openid', 'openid_scope'],
    ['a property name of every JavaScript object', 'constructor', 'right_not_offered'],
    ['a valid right before an unknown one', 'account-info everything', 'right_not_offered'],
    ['a scope that is too long', `${' '.repeat(6000)}account-info`, 'too_long'],
  ])('refuses %s', (_what, scope, ruleId) => {
    expect(refusalOf(() => read(scope))).toMatchObject({ code: 'invalid_scope', ruleId });
  });

  it('refuses a right if the list of allowed rights of the application is empty', () => {
    expect(verdictOf(() => read('account-info', []))).toBe('invalid_scope');
  });
});
