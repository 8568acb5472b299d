import { describe, expect, it } from 'vitest';
import { readInstanceName } from '../../src/oauth/instanceName.ts';
import { refusalOf } from './refusal.ts';

describe('contract 2.2 instance_name', () => {
  it('is null when none was sent: that is an instance of its own', () => {
    expect(readInstanceName(undefined)).toBeNull();
  });

  it.each(['null', ' ', 'anna@example.com', 'Анна', 'x'.repeat(255), 'é'.repeat(127)])(
    'takes %j as it is',
    (name) => {
      expect(readInstanceName(name)).toBe(name);
    },
  );

  it.each([
    ['more than 255 bytes', 'x'.repeat(256)],
    ['more than 255 bytes in fewer characters', 'é'.repeat(128)],
    ['a control character', 'anna\n'],
    ['a character that turns the direction of writing', 'anna\u202e'],
  ])('refuses %s (scopes.md)', (_what, name) => {
    expect(refusalOf(() => readInstanceName(name)).code).toBe('invalid_request');
  });
});
