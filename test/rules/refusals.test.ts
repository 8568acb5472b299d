import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RULE_IDS, remedyFor } from '../../src/rules/common/refusals.ts';

describe('the remedy of a refusal', () => {
  it.each([null, 'of_a_later_build', 'toString'])('is general for an unknown rule: %s', (ruleId) => {
    expect(remedyFor(ruleId)).toMatch(/^Another build of Assent recorded this/);
  });

  it('exists for each rule (also checked by the compiler)', () => {
    const sources = readdirSync(new URL('../../src', import.meta.url), { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.ts') && !/(common\/refusals|deadEnds)\.ts$/.test(file))
      .map((file) => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'));
    const unmade = RULE_IDS.filter((id) => !sources.some((source) => source.includes(`'${id}'`)));
    expect(unmade).toEqual([]);
  });
});
