import { describe, expect, it } from 'vitest';
import { parseInstanceName } from '../../src/rules/request/authorizationRequest.ts';
import { refusalOf, verdictOf } from './refusal.ts';

describe('contract 2.2 instance_name', () => {
  it('is null if it was not sent, which is a separate instance', () => {
    expect(parseInstanceName(undefined)).toBeNull();
  });

  it.each(['null', 'anna@example.com', 'Анна К.', '👩‍👧', 'x'.repeat(255), 'é'.repeat(127)])(
    'accepts %j unchanged',
    (name) => {
      expect(parseInstanceName(name)).toBe(name);
    },
  );

  it.each([
    ['more than 255 bytes', 'x'.repeat(256)],
    ['more than 255 bytes in fewer characters', 'é'.repeat(128)],
    ['a control character', 'anna\n'],
    ['nothing but a space', ' '],
  ])('refuses %s', (_what, name) => {
    expect(verdictOf(() => parseInstanceName(name))).toBe('invalid_request');
  });

  it('names the character and its position in the log', () => {
    expect(refusalOf(() => parseInstanceName('anna\u3164')).rule).toBe(
      'instance_name: U+3164 at character 5',
    );
  });
});
