import type pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { OverloadedError } from '../../src/rules/common/error.ts';
import { batched } from '../../src/store/database/batch.ts';

const POOL = {} as pg.Pool;

/** A statement that answers when it is told to, and remembers its requests. */
function slowStatement(rowOf?: (request: number) => string | null) {
  const batches: { requests: readonly number[]; answer(): void; fail(error: Error): void }[] = [];
  const ask = (_pool: pg.Pool, requests: readonly number[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({ requests, answer: () => resolve(requests.map(String)), fail: reject });
    });
  const one = batched('test', ask, rowOf);
  return {
    asked: () => batches.map(({ requests }) => requests),
    /** Sends requests at once. @returns the result of each, or its error */
    async send(...requests: number[]) {
      const results = requests.map((request) => settled(one(POOL, request)));
      await turn();
      return results;
    },
    /** Answers statements by their numbers, one after the other. */
    async answer(...numbers: number[]) {
      for (const number of numbers) {
        batches[number]?.answer();
        await turns();
      }
    },
    async fail(number: number, error: Error) {
      batches[number]?.fail(error);
      await turns();
    },
  };
}

/** The error that PostgreSQL raises about one caller's data. */
const DATA_ERROR = Object.assign(new Error('three is wrong'), { code: '22021' });

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until answers have arrived, and waiting requests are sent. */
async function turns(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await turn();
}

const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);
const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

describe('requests that share a statement', () => {
  it('fail with an error when one has no result', async () => {
    const one = batched('test', async () => [] as string[]);
    expect(await settled(one(POOL, 1))).toEqual(new Error('the batch has no result for a request'));
  });

  it('get their own results; they wait while enough batches are in flight, then share one', async () => {
    const { asked, send, answer } = slowStatement();
    const results = await send(...upTo(500));
    expect(asked().map(({ length }) => length)).toEqual([128, 128]);
    await answer(0, 1, 2, 3);
    expect(asked().map(({ length }) => length)).toEqual([128, 128, 128, 116]);
    expect(await Promise.all(results)).toEqual(upTo(500).map(String));
  });

  it('never concern the same row: a second request for a row waits for the answer to the first', async () => {
    const { asked, send, answer } = slowStatement((request) =>
      request >= 100 ? null : String(request % 10),
    );
    const results = await send(1, 2, 11, 100, 100, 21);
    expect(asked()).toEqual([[1, 2, 100, 100]]);
    results.push(...(await send(3, 12)));
    expect(asked().slice(1)).toEqual([[3]]);
    await answer(0);
    expect(asked().slice(2)).toEqual([[11, 12]]);
    await answer(2);
    expect(asked().slice(3)).toEqual([[21]]);
    await answer(1, 3);
    expect(await Promise.all(results)).toHaveLength(8);
  });

  it('wait only for the request about the same row, not for the rest of its batch', async () => {
    const stuck: (() => void)[] = [];
    const one = batched(
      'test',
      async (_pool, requests: readonly number[]) => {
        if (requests.length > 1) throw DATA_ERROR;
        if (requests[0] === 2) await new Promise<void>((resolve) => stuck.push(resolve));
        return requests.map(String);
      },
      (request: number) => String(request % 10),
    );
    const held = [1, 2].map((request) => one(POOL, request));
    expect(await one(POOL, 11)).toBe('11');
    stuck[0]?.();
    expect(await Promise.all(held)).toEqual(['1', '2']);
  });

  it('are refused after a wait of two seconds, even behind a request about the same row', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    try {
      const { asked, send, answer } = slowStatement((request) => String(request % 10));
      const [first, ...behind] = await send(1, 11, 21);
      vi.advanceTimersByTime(4_001);
      expect(await Promise.all(behind)).toEqual([
        new OverloadedError('too many requests are waiting for the database'),
        new OverloadedError('too many requests are waiting for the database'),
      ]);
      await answer(0);
      const [later] = await send(31);
      await answer(1);
      expect(await Promise.all([first, later])).toEqual(['1', '31']);
      expect(asked()).toEqual([[1], [31]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are sent one by one after one of them caused an error, and only that one fails', async () => {
    const asked: (readonly number[])[] = [];
    const one = batched('test', async (_pool, requests: readonly number[]) => {
      asked.push(requests);
      if (requests.includes(3)) throw DATA_ERROR;
      return requests.map(String);
    });
    const results = await Promise.all([1, 2, 3, 4, 5].map((request) => settled(one(POOL, request))));
    expect(results).toEqual(['1', '2', DATA_ERROR, '4', '5']);
    expect(asked).toEqual([[1, 2, 3, 4, 5], [1], [2], [3], [4], [5]]);
  });

  it('all fail with an error that none of them caused, but later requests succeed', async () => {
    const { asked, send, answer, fail } = slowStatement(String);
    const results = await send(1, 2);
    const error = new Error('out of luck');
    await fail(0, error);
    expect(await Promise.all(results)).toEqual([error, error]);
    const [later] = await send(1);
    await answer(1);
    expect(await later).toBe('1');
    expect(asked()).toEqual([[1, 2], [1]]);
  });

  it('are refused when too many wait', async () => {
    const { send, answer } = slowStatement();
    const results = await send(...upTo(2_001));
    expect(await results[2_000]).toBeInstanceOf(OverloadedError);
    await answer(...upTo(16));
    expect(await results[1_999]).toBe('1999');
  });

  it.each([
    ['one row', upTo(2_500).map((n) => 100 * n), 1 + 256],
    ['many rows', upTo(5_000).map((n) => 2 * n), 50 + 2_000],
  ])(
    'are refused when too many wait for their row, without affecting other rows: %s [batch-1]',
    async (_what, requests, accepted) => {
      const { send, answer } = slowStatement((request) => String(request % 100));
      const flood = await send(...requests);
      expect(await flood.at(-1)).toBeInstanceOf(OverloadedError);
      const [other] = await send(1);
      await answer(1);
      expect(await other).toBe('1');
      await answer(...upTo(260));
      const answered = (await Promise.all(flood)).filter((result) => typeof result === 'string');
      expect(answered).toHaveLength(accepted);
    },
  );
});
