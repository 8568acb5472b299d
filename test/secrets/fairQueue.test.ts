import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../src/secrets/fairQueue.ts';

/** Pushes tasks named after their client and number. @returns what was displaced */
function fill(queue: FairQueue<string>, client: string, times: number): (string | undefined)[] {
  return Array.from({ length: times }, (_, n) => queue.push(client, `${client}${n + 1}`));
}

function drain(queue: FairQueue<string>): string[] {
  const tasks = [];
  for (let task = queue.shift(); task !== undefined; task = queue.shift()) tasks.push(task);
  return tasks;
}

describe('a fair queue', () => {
  it('is first in, first out for one client', () => {
    const queue = new FairQueue<string>(3);
    fill(queue, 'a', 3);
    expect(drain(queue)).toEqual(['a1', 'a2', 'a3']);
    expect(queue.shift()).toBeUndefined();
  });

  it('lets clients take turns, however many tasks one of them has', () => {
    const queue = new FairQueue<string>(10);
    fill(queue, 'a', 4);
    fill(queue, 'b', 2);
    fill(queue, 'c', 1);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('turns a client away that has filled it by itself', () => {
    const queue = new FairQueue<string>(3);
    expect(fill(queue, 'a', 4)).toEqual([undefined, undefined, undefined, 'a4']);
    expect(queue.hasRoom('a')).toBe(false);
  });

  it('makes room for others at the cost of the longest client, newest first', () => {
    const queue = new FairQueue<string>(4);
    fill(queue, 'a', 4);
    expect(queue.hasRoom('b')).toBe(true);
    expect(fill(queue, 'b', 3)).toEqual(['a4', 'a3', 'b3']);
    expect(queue.hasRoom('b')).toBe(false);
    expect(fill(queue, 'c', 1)).toEqual(['a2']);
    expect(drain(queue)).toHaveLength(4);
  });

  it('makes room for a newcomer at the cost of the one that had the most turns, when all have one task', () => {
    const queue = new FairQueue<string>(3);
    for (const client of ['a', 'b', 'c']) queue.push(client, client);
    expect(queue.hasRoom('d')).toBe(false);
    expect(queue.push('d', 'd')).toBe('d');
    queue.shift(); // a has had a turn
    fill(queue, 'a', 1);
    expect(queue.hasRoom('d')).toBe(true);
    expect(fill(queue, 'd', 2)).toEqual(['a1', 'd2']);
    expect(queue.push('a', 'a2')).toBe('a2');
    expect(drain(queue)).toEqual(['b', 'c', 'd1']);
  });

  it('counts turns until it is empty', () => {
    const queue = new FairQueue<string>(2);
    for (const client of ['a', 'b']) queue.push(client, client);
    queue.shift();
    expect(fill(queue, 'a', 1)).toEqual([undefined]);
    expect(fill(queue, 'c', 1)).toEqual(['a1']);
    drain(queue);
    for (const client of ['a', 'b']) queue.push(client, client);
    expect(fill(queue, 'd', 1)).toEqual(['d1']);
  });

  it('counts the turns of a client that floods, however many others had one before', () => {
    const queue = new FairQueue<string>(2);
    queue.push('0', '0');
    for (let n = 1; n <= 10_000; n += 1) {
      queue.push(`${n}`, `${n}`);
      queue.shift();
    }
    for (const flood of ['f1', 'f2']) {
      queue.push('f', flood);
      queue.shift();
    }
    queue.push('a', 'a');
    expect(queue.push('newcomer', 'n')).toBe('f2');
    expect(drain(queue)).toEqual(['a', 'n']);
  });

  it('has its room again when tasks were taken', () => {
    const queue = new FairQueue<string>(2);
    fill(queue, 'a', 2);
    queue.shift();
    expect(fill(queue, 'a', 2)).toEqual([undefined, 'a2']);
  });
});
