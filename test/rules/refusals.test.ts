import { describe, expect, it } from 'vitest';
import { RULE_IDS, remedyFor } from '../../src/rules/common/refusals.ts';
import { files, read } from '../docs/checkout.ts';

describe('the remedy of a refusal', () => {
  it.each([null, 'of_a_later_build', 'toString'])('is general for an unknown rule id: %j', (ruleId) => {
    expect(remedyFor(ruleId)).toMatch(/^Another build of Assent recorded this/);
  });

  it('exists only for rules in use; the compiler checks that each rule has one', () => {
    const sources = files
      .filter((file) => /^src\/.+\.ts$/.test(file) && !/(common\/refusals|errorPage)\.ts$/.test(file))
      .map(read);
    const unmade = RULE_IDS.filter((id) => !sources.some((source) => source.includes(`'${id}'`)));
    expect(unmade).toEqual([]);
  });
});
