import { describe, expect, it } from 'vitest';
import { parseInstanceName } from '../../src/rules/request/instanceName.ts';
import { refusalOf } from './refusal.ts';

describe('contract 2.2 instance_name', () => {
  it('is null when none was sent: that is an instance of its own', () => {
    expect(parseInstanceName(undefined)).toBeNull();
  });

  it.each(['null', 'anna@example.com', 'Анна К.', '👩‍👧', 'x'.repeat(255), 'é'.repeat(127)])(
    'takes %j as it is',
    (name) => {
      expect(parseInstanceName(name)).toBe(name);
    },
  );

  it.each([
    ['more than 255 bytes', 'x'.repeat(256)],
    ['more than 255 bytes in fewer characters', 'é'.repeat(128)],
    ['a control character', 'anna\n'],
    ['a character that turns the direction of writing', 'anna\u202e'],
    ['nothing but a space', ' '],
    ['nothing but a filler', '\u3164'],
    ['a space at the end', 'anna '],
    ['a no-break space', 'anna\u00a0k'],
    ['two spaces in a row', 'anna  k'],
    ['a joiner that nothing needs', 'an\u200dna'],
  ])('refuses %s (scopes.md)', (_what, name) => {
    expect(refusalOf(() => parseInstanceName(name)).code).toBe('invalid_request');
  });

  it('tells the log which character it was, and where', () => {
    expect(refusalOf(() => parseInstanceName('anna\u3164')).rule).toBe(
      'instance_name: U+3164 at character 5',
    );
  });
});
