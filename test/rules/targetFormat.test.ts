import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceQuotationMarks } from '../../src/rules/common/text.ts';
import { formatPhoneNumber, targetParts } from '../../src/rules/scope/targetFormat.ts';
import { forAny, rights, text } from './arbitraries.ts';
import { parseScope } from './rubles.ts';

const digit = fc.constantFrom(...'0123456789');
const digitsOf = (shown: string) => shown.replaceAll(/[^0-9]/g, '');

describe('a phone number', () => {
  it.each([
    ['79161234567', '+7 916 123 45 67'],
    ['+79161234567', '+7 916 123 45 67'],
    ['4915112345678', '+49 1511 2345678'],
    ['+12133734253', '+1 213 373 4253'],
    ['375291234567', '+375 29 123 45 67'],
  ])('written as %j is shown as %j', (number, shown) => {
    expect(formatPhoneNumber(number)).toBe(shown);
  });

  it.each([
    ...['', '+', '1', '89161234567', '9161234567', '+7916123456', '791612345678', '00000000', 'anna'],
    ...['+7(916)1234567', '+7-916-123-45-67', '++79161234567', '79161234567+', '７9161234567'],
    ...['٧٩١٦١٢٣٤٥٦٧', '+49015112345678', 'tel:+79161234567', '79161234567;ext=5'],
  ])('is not recognised in %j', (number) => {
    expect(formatPhoneNumber(number)).toBeNull();
  });

  it('is shown with all its digits in order, in any notation of the application', () => {
    const country = fc.constantFrom(
      ...['7', '7916', '49', '49151', '1', '1213', '375', '380', '44', '39', '86', ''],
    );
    const number = fc
      .tuple(fc.constantFrom('', '+'), country, fc.string({ unit: digit, maxLength: 12 }))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(number, text({ maxLength: 20 })), (written) => {
        const shown = formatPhoneNumber(written);
        if (shown !== null) expect(shown).toMatch(/^\+[0-9]+( [0-9-]+)*$/);
        if (shown !== null) expect(digitsOf(shown)).toBe(digitsOf(written));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the target of a right', () => {
  it.each([
    ['payment.to-pattern("1234567890")', ['1234567890']],
    ['payment.to-account("41001123456789")', ['4100', '1123', '4567', '89']],
    ['payment.to-account("12345678")', ['1234', '5678']],
    ['payment.to-account("1234567")', ['1234567']],
    ['payment.to-account("DE89370400440532013000")', ['DE89', '3704', '0044', '0532', '0130', '00']],
    ['payment.to-account("NO9386011117947")', ['NO93', '8601', '1117', '947']],
    ['payment.to-account("DE8937040044")', ['DE8937040044']],
    ['payment.to-account("de89370400440532013000")', ['de89370400440532013000']],
    ['payment.to-account("１２３４５６７８")', ['１２３４５６７８']],
    ['payment.to-account("89161234567","phone")', ['89161234567']],
    ['payment.to-account("12345678@x","email")', ['12345678@x']],
    ['payment-shop', null],
  ])('is shown in parts, or null if the right has no target: %s as %j', (scope, parts) => {
    expect(parseScope(scope).map(targetParts)).toEqual([parts]);
  });

  it('can’t close its own quotation marks', () => {
    const shown = (target: string) => targetParts({ name: 'payment.to-pattern', target });
    expect(shown('a”,at-most-RUB-1;“b’’c')).toEqual(['a�,at-most-RUB-1;�b�c']);
    expect(shown('McDonald’s')).toEqual(['McDonald’s']);
  });

  it('is shown completely, with at most a plus added', () => {
    forAny(rights, (list) => {
      for (const right of list) {
        const parts = targetParts(right)?.join('').replace(/^\+/, '');
        expect(parts).toBe(right.target && replaceQuotationMarks(right.target).replace(/^\+/, ''));
      }
    });
  });
});
