import { expect, it } from 'vitest';
import { comparison } from '../bench/comparison.mjs';
import { isWarm } from '../bench/rounds.mjs';

/** A line of the benchmark, in four alike rounds. */
const lineOf = (perSecond: number, server: number, postgres: number) => ({
  rounds: Array.from({ length: 4 }, () => ({ perSecond, p99: 1, cpu: { server, postgres } })),
});

it('a comparison names each figure that became worse, and adds up the CPU of both processes', () => {
  const lines = {
    exchange: lineOf(100, 0.5, 0.75),
    'exchange of 1234567': lineOf(100, 0.5, 0.5),
    page: lineOf(50, 1, 0.25),
    'page of 1234567': lineOf(100, 1, 1),
  };
  const [head, exchange, page] = comparison(lines);
  const same = '1.00 (1.00 to 1.00)';
  expect(head).toEqual(['', 'rate', 'server CPU', 'PostgreSQL CPU', 'whole CPU', 'p99', '']);
  const [more, sum] = ['1.50 (1.50 to 1.50)', '1.25 (1.25 to 1.25)'];
  expect(exchange).toEqual([
    'exchange / 1234567',
    ...[same, same, more, sum, same],
    'WORSE: PostgreSQL CPU, whole CPU',
  ]);
  expect(page?.at(-1)).toBe('WORSE: rate, server CPU, whole CPU');
});

it.each([
  ['3 equal windows: not warm', [103, 103, 103], false],
  ['6 equal windows: warm', [103, 103, 103, 105, 101, 103], true],
  ['a gain in the last window: not warm', [103, 103, 103, 103, 103, 240], false],
  ['half of the windows at a new rate: warm', [103, 103, 103, 103, 240, 240, 240, 240, 240, 240], true],
  ['a slow rise: not warm', [100, 104, 108, 112, 116, 120, 124, 128], false],
])('a server counts as warm once the later half of the windows isn’t faster: %s', (_, rates, warm) => {
  expect(isWarm(rates)).toBe(warm);
});
