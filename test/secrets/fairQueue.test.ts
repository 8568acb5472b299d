import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../src/secrets/fairQueue.ts';

/** Pushes tasks named after their client and number. @returns the displaced tasks */
function fill(queue: FairQueue<string>, client: string, times: number): (string | undefined)[] {
  return Array.from({ length: times }, (_, n) => queue.push(client, `${client}${n + 1}`));
}

function drain(queue: FairQueue<string>): string[] {
  const tasks = [];
  for (let task = work(queue); task !== undefined; task = work(queue)) tasks.push(task);
  return tasks;
}

/** Does the next task in this time. */
function work(queue: FairQueue<string>, milliseconds = 20): string | undefined {
  const turn = queue.shift();
  turn?.end(milliseconds);
  return turn?.task;
}

describe('a fair queue', () => {
  it('alternates between clients, however many tasks one of them has', () => {
    const queue = new FairQueue<string>(10);
    fill(queue, 'a', 4);
    fill(queue, 'b', 2);
    fill(queue, 'c', 1);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('refuses more tasks of a client that fills the queue, and drops its newest for other clients', () => {
    const queue = new FairQueue<string>(4);
    expect(fill(queue, 'a', 5)).toEqual([...Array.from({ length: 4 }, () => undefined), 'a5']);
    expect(['a', 'b'].map((client) => queue.hasRoom(client))).toEqual([false, true]);
    expect(fill(queue, 'b', 3)).toEqual(['a4', 'a3', 'b3']);
    expect(queue.hasRoom('b')).toBe(false);
    expect(fill(queue, 'c', 1)).toEqual(['a2']);
    expect(drain(queue)).toHaveLength(4);
  });

  it('drops the task of the client that used the most time, if each client has one task', () => {
    const queue = new FairQueue<string>(3);
    for (const client of ['a', 'b', 'c']) queue.push(client, client);
    expect(queue.hasRoom('d')).toBe(false);
    expect(queue.push('d', 'd')).toBe('d');
    work(queue); // a has had a turn
    fill(queue, 'a', 1);
    expect(queue.hasRoom('d')).toBe(true);
    expect(fill(queue, 'd', 2)).toEqual(['a1', 'd2']);
    expect(queue.push('a', 'a2')).toBe('a2');
    expect(drain(queue)).toEqual(['b', 'c', 'd1']);
  });

  it('serves a client that used much time after one that used little', () => {
    const queue = new FairQueue<string>(10);
    const clients = ['a', 'b'];
    for (const client of clients) queue.push(client, client);
    work(queue, 500);
    work(queue, 20);
    for (const client of clients) fill(queue, client, 4);
    expect([0, 1, 2, 3].map(() => work(queue, 20))).toEqual(['b1', 'b2', 'b3', 'b4']);
  });

  it('serves a new client within two turns, however many clients with slow tasks alternate', () => {
    const queue = new FairQueue<string>(20);
    const crowd = Array.from({ length: 10 }, (_, n) => `c${n}`);
    for (const client of crowd) queue.push(client, client);
    for (let n = 0; n < 57; n += 1) {
      const client = work(queue, 300) ?? '';
      queue.push(client, client);
    }
    queue.push('newcomer', 'newcomer');
    expect([work(queue, 300), work(queue, 300)]).toContain('newcomer');
  });

  it('does not starve a client that used much time, even if new clients keep coming', () => {
    const queue = new FairQueue<string>(20);
    for (const client of ['a', 'b', 'c']) queue.push(client, client);
    work(queue, 500);
    fill(queue, 'a', 30);
    const seen: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      queue.push(`n${n}`, 'newcomer');
      seen.push(work(queue, 20) ?? '');
    }
    expect(seen.filter((task) => task.startsWith('a')).length).toBeGreaterThan(5);
    expect(seen.slice(0, 20).filter((task) => task.startsWith('a'))).toEqual([]);
  });

  it('charges a running task in advance, so that one client does not occupy all threads', () => {
    const queue = new FairQueue<string>(10);
    fill(queue, 'x', 1);
    work(queue, 300);
    fill(queue, 'a', 3);
    fill(queue, 'b', 3);
    expect([1, 2, 3, 4].map(() => queue.shift()?.task)).toEqual(['a1', 'b1', 'a2', 'b2']);
  });

  it('remembers the time used by a flooding client, however many others had a turn', () => {
    const queue = new FairQueue<string>(2);
    queue.push('0', '0');
    for (let n = 1; n <= 10_000; n += 1) {
      queue.push(`${n}`, `${n}`);
      work(queue);
    }
    for (const flood of ['f1', 'f2']) {
      queue.push('f', flood);
      work(queue);
    }
    queue.push('a', 'a');
    expect(queue.push('newcomer', 'n')).toBe('f2');
    expect(drain(queue)).toEqual(['a', 'n']);
  });
});
