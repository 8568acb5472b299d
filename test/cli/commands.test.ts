import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMANDS } from '../../src/cli/table.ts';
import { ALL_OPERATIONS } from '../support/allOperations.ts';

const OWN = [
  'serve',
  'notify',
  'notify secret',
  'notify test',
  'migrate',
  'doctor',
  'texts check',
  'texts new',
  'texts proxy',
  'config show',
];

const commands = Object.entries(COMMANDS).map(([usage, row]) => ({ usage, ...row }));

describe('operations and commands', () => {
  it('correspond to each other, except for those about the program itself', () => {
    const carriedOut = commands.flatMap(({ operation = [] }) => operation);
    expect(carriedOut).toHaveLength(ALL_OPERATIONS.length);
    expect(new Set(carriedOut)).toEqual(new Set(ALL_OPERATIONS));
    const own = commands.filter(({ operation }) => operation === undefined);
    expect(own.map(({ usage }) => usage.replace(/ [<[].*/, ''))).toEqual(OWN);
  });

  it.each(ALL_OPERATIONS)('have a JSON schema with descriptions: $summary', ({ input, output, summary }) => {
    expect(summary).toMatch(/^[a-z].*[^.]$/);
    const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
    const { properties = {}, additionalProperties } = schema;
    expect(additionalProperties).toBe(false);
    const unsaid = Object.entries(properties).filter(
      ([, field]) => !Object(field).description && !Object(field).title,
    );
    expect(unsaid).toEqual([]);
    const { anyOf, type } = z.toJSONSchema(output, { unrepresentable: 'any' });
    expect(anyOf ?? type).toBeDefined();
  });

  it.each(commands)(
    'have --yes if and only if they ask, as all do that destroy: $usage',
    ({ options = [], operation }) => {
      const asks = operation?.asks ?? false;
      if (operation?.effect === 'destroys') expect(asks).toBe(true);
      expect(options.some(({ long }) => long === '--yes')).toBe(asks);
    },
  );
});
