import type pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { batched } from '../../src/store/database/batch.ts';
import { OverloadedError } from '../../src/store/database/errors.ts';

const POOL = {} as pg.Pool;

/** A statement that answers when it is told to, and remembers what it was asked. */
function slowStatement(rowOf?: (request: number) => string | null) {
  const batches: { requests: readonly number[]; answer(): void; fail(error: Error): void }[] = [];
  const ask = (_pool: pg.Pool, requests: readonly number[]) =>
    new Promise<string[]>((resolve, reject) => {
      const answer = () => resolve(requests.map((request) => `answer ${request}`));
      batches.push({ requests, answer, fail: reject });
    });
  const one = batched('test', ask, rowOf);
  const answerNext = async (count: number) => {
    for (let next = 0; next < count; next += 1) {
      batches[next]?.answer();
      await turns();
    }
  };
  return { batches, one, answerNext, asked: () => batches.map(({ requests }) => requests) };
}

/** The error that PostgreSQL raises about one caller's data. */
const DATA_ERROR = Object.assign(new Error('three is wrong'), { code: '22021' });

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Until what was answered is told, and what waited is on its way. */
async function turns(): Promise<void> {
  for (let count = 0; count < 3; count += 1) await turn();
}

const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe('requests that share a statement', () => {
  it('get each its own result', async () => {
    const { batches, asked, one } = slowStatement();
    const results = [1, 2, 3].map((request) => one(POOL, request));
    await turn();
    expect(asked()).toEqual([[1, 2, 3]]);
    batches[0]?.answer();
    expect(await Promise.all(results)).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('are no more than one when nothing else waits, which leaves at once', async () => {
    const { batches, one } = slowStatement();
    const result = one(POOL, 7);
    await turn();
    batches[0]?.answer();
    expect(await result).toBe('answer 7');
  });

  it('wait while two statements are in flight, and then go together, at most 128 at a time', async () => {
    const { answerNext, asked, one } = slowStatement();
    const results = Array.from({ length: 500 }, (_, request) => one(POOL, request));
    await turn();
    expect(asked().map(({ length }) => length)).toEqual([128, 128]);
    await answerNext(4);
    expect(asked().map(({ length }) => length)).toEqual([128, 128, 128, 116]);
    expect(await Promise.all(results)).toEqual(
      Array.from({ length: 500 }, (_, request) => `answer ${request}`),
    );
  });

  it('are about different rows: a second one about a row waits until the first is answered', async () => {
    const { batches, asked, one } = slowStatement((request) =>
      request >= 100 ? null : String(request % 10),
    );
    const results = [1, 2, 11, 100, 100, 21].map((request) => one(POOL, request));
    await turn();
    expect(asked()).toEqual([[1, 2, 100, 100]]);
    results.push(one(POOL, 3), one(POOL, 12));
    await turn();
    expect(asked()).toEqual([[1, 2, 100, 100], [3]]);
    batches[0]?.answer();
    await turns();
    expect(asked().slice(2)).toEqual([[11, 12]]);
    batches[2]?.answer();
    await turns();
    expect(asked().slice(3)).toEqual([[21]]);
    batches[1]?.answer();
    batches[3]?.answer();
    expect(await Promise.all(results)).toHaveLength(8);
  });

  it('wait no longer for one about the same row than it takes itself, whatever else was in its statement', async () => {
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

  it('are turned away after two seconds, also behind one about the same row', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    try {
      const { batches, asked, one } = slowStatement((request) => String(request % 10));
      const first = one(POOL, 1);
      await turn();
      const behind = [11, 21].map((request) => settled(one(POOL, request)));
      vi.advanceTimersByTime(4_001);
      expect(await Promise.all(behind)).toEqual([new OverloadedError(), new OverloadedError()]);
      batches[0]?.answer();
      expect(await first).toBe('answer 1');
      const later = one(POOL, 31);
      await turn();
      batches[1]?.answer();
      expect(await later).toBe('answer 31');
      expect(asked()).toEqual([[1], [31]]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are those for one database', async () => {
    const { asked, one } = slowStatement();
    void one(POOL, 1);
    void one({} as pg.Pool, 2);
    await turn();
    expect(asked()).toEqual([[1], [2]]);
  });

  it('are asked one by one after an error that one of them caused, which stays its own', async () => {
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

  it('all fail with an error that none of them caused, and later ones do not', async () => {
    const { batches, asked, one } = slowStatement(String);
    const results = [1, 2].map((request) => settled(one(POOL, request)));
    await turn();
    batches[0]?.fail(new Error('out of luck'));
    expect(await Promise.all(results)).toEqual([new Error('out of luck'), new Error('out of luck')]);
    const later = one(POOL, 1);
    await turns();
    batches[1]?.answer();
    expect(await later).toBe('answer 1');
    expect(asked()).toEqual([[1, 2], [1]]);
  });

  it('are asked once more when the connection was lost', async () => {
    const { batches, asked, one } = slowStatement();
    const result = one(POOL, 1);
    await turn();
    batches[0]?.fail(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    await turns();
    batches[1]?.answer();
    expect(await result).toBe('answer 1');
    expect(asked()).toEqual([[1], [1]]);
  });

  it('are turned away when too many wait', async () => {
    const { answerNext, one } = slowStatement();
    const results = Array.from({ length: 2_001 }, (_, request) => settled(one(POOL, request)));
    expect(await results[2_000]).toBeInstanceOf(OverloadedError);
    await turn();
    await answerNext(16);
    expect(await results[1_999]).toBe('answer 1999');
  });

  it('are turned away when too many wait about their row, and leave those about other rows alone', async () => {
    const { batches, answerNext, asked, one } = slowStatement((request) => String(request % 100));
    const flood = Array.from({ length: 2_500 }, (_, index) => settled(one(POOL, 100 * index)));
    expect(await flood.at(-1)).toBeInstanceOf(OverloadedError);
    await turn();
    const other = one(POOL, 1);
    await turn();
    expect(asked()).toEqual([[0], [1]]);
    batches[1]?.answer();
    expect(await other).toBe('answer 1');
    await answerNext(260);
    const answered = (await Promise.all(flood)).filter((result) => typeof result === 'string');
    expect(answered).toHaveLength(1 + 256);
  });

  it('of many rows that others crowd leave alone those about any other row', async () => {
    const { batches, answerNext, one } = slowStatement((request) => String(request % 100));
    const flood = Array.from({ length: 5_000 }, (_, index) => settled(one(POOL, 2 * index)));
    expect(await flood.at(-1)).toBeInstanceOf(OverloadedError);
    await turn();
    const other = one(POOL, 1);
    await turn();
    batches[1]?.answer();
    expect(await other).toBe('answer 1');
    await answerNext(100);
    const answered = (await Promise.all(flood)).filter((result) => typeof result === 'string');
    expect(answered).toHaveLength(50 + 2_000);
  });

  it('fail loudly when one is left without a result', async () => {
    const one = batched('test', async () => [] as string[]);
    expect(await settled(one(POOL, 1))).toEqual(new Error('a request was left without an answer'));
  });
});
