import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantIdFor } from '../../src/secrets/tokens.ts';
import { forAny } from '../rules/arbitraries.ts';

describe('contract 1.5 and 8: one grant for a user, an application and an instance', () => {
  it('has an id that is a uuid of the first 16 bytes of a SHA-256, and stable', () => {
    expect(grantIdFor('user-1', 'client-1', null)).toBe('5485b674-03aa-7716-c670-47801fab384b');
    expect(grantIdFor('user-1', 'client-1', 'anna')).toBe('929d241b-5c66-34a8-aac4-257a9734ba22');
  });

  it('changes if any of the three changes, and only then', () => {
    const part = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\\', '[', ']', 'null', ' '),
      maxLength: 3,
    });
    const grant = fc.tuple(part, part, fc.option(part));
    forAny(grant, grant, (one, other) => {
      const same = one.every((value, index) => value === other[index]);
      expect(grantIdFor(...one) === grantIdFor(...other)).toBe(same);
      expect(grantIdFor(...one)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    });
  });
});
