import { expect, it } from 'vitest';
import { alwaysWaitedFor } from '../../src/store/schema/standbyFacts.ts';

it.each([
  ['', []],
  ['a', ['a']],
  ['a, b', ['a']],
  ['FIRST 2 (a, "B")', ['a', 'b']],
  ['first 1 (a, b)', ['a']],
  ['2 (a, b, c)', ['a', 'b']],
  ['FIRST 3 (a, b)', ['a', 'b']],
  ['ANY 1 (a, b)', []],
  ['ANY 2 (a, b)', ['a', 'b']],
  ['any 1 (a)', ['a']],
  ['*', []],
  ['FIRST 2 (*)', []],
  ['FIRST 1 (a, *)', []],
])('a commit by synchronous_standby_names = %j waits always for %j', (setting, names) => {
  expect(alwaysWaitedFor(setting)).toEqual(names);
});
