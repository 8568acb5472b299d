import { describe, expect, it } from 'vitest';
import { formatScope } from '../../src/rules/scope/formatScope.ts';
import { type RightData, rightData } from '../../src/rules/scope/rightData.ts';
import type { Right } from '../../src/rules/scope/scope.ts';
import { forAny, rights } from './arbitraries.ts';
import { parseScope } from './rubles.ts';

describe('a resource server’s data', () => {
  /** The scope again, out of nothing but the data. */
  function written({ right, target, target_type, sources, period_days, amount }: RightData): string {
    const texts = (target === undefined ? (sources ?? []) : [target, target_type]).filter(
      (text) => text !== undefined,
    );
    const quoted = texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`);
    const limit = amount === undefined ? '' : `.limit(${period_days ?? ''},${amount})`;
    return right + (quoted.length > 0 ? `(${quoted.join(',')})` : '') + limit;
  }
  const withLimit = (right: Right) => ({
    ...right,
    limit: right.limit && { ...right.limit, isDefault: undefined },
  });

  it('need no parsing of the scope', () => {
    forAny(rights, (list) => {
      const scope = rightData(parseScope(formatScope(list)))
        .map(written)
        .join(' ');
      expect(parseScope(scope)).toEqual(list.map(withLimit));
    });
  });
});
