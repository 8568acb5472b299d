import { describe, expect, it } from 'vitest';
import { parseInstanceName } from '../../src/rules/request/authorizationRequest.ts';
import { refusalOf, verdictOf } from './refusal.ts';

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
    ['nothing but a space', ' '],
  ])('refuses %s', (_what, name) => {
    expect(verdictOf(() => parseInstanceName(name))).toBe('invalid_request');
  });

  it('tells the log which character it was, and where', () => {
    expect(refusalOf(() => parseInstanceName('anna\u3164')).rule).toBe(
      'instance_name: U+3164 at character 5',
    );
  });
});
