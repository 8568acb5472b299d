import { describe, expect, it } from 'vitest';
import { ASK_AGAIN, coalesce, OverloadedError } from '../../src/store/coalesce.ts';

const never = () => false;

/** A database that answers when it is told to, and remembers what it was asked. */
function slowDatabase() {
  const batches: {
    questions: readonly number[];
    answer: (answers?: (string | typeof ASK_AGAIN)[]) => void;
    fail: (error: Error) => void;
  }[] = [];
  const ask = (questions: readonly number[]) =>
    new Promise<(string | typeof ASK_AGAIN)[]>((resolve, reject) => {
      const answers = questions.map((question) => `answer ${question}`);
      batches.push({ questions, answer: (given = answers) => resolve(given), fail: reject });
    });
  return { batches, ask };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error);
}

describe('questions that are asked together', () => {
  it('go out as one statement, and everybody gets the answer to the own question', async () => {
    const { batches, ask } = slowDatabase();
    const one = coalesce(ask, never);
    const answers = [1, 2, 3].map((question) => one(question));
    await turn();
    expect(batches.map(({ questions }) => questions)).toEqual([[1, 2, 3]]);
    batches[0]?.answer();
    expect(await Promise.all(answers)).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('leave alone and at once when nothing else waits', async () => {
    const { batches, ask } = slowDatabase();
    const answer = coalesce(ask, never)(7);
    await turn();
    batches[0]?.answer();
    expect(await answer).toBe('answer 7');
  });

  it('wait while two statements are out, and then go together, at most 128 at a time', async () => {
    const { batches, ask } = slowDatabase();
    const one = coalesce(ask, never);
    const answers = Array.from({ length: 500 }, (_, question) => one(question));
    await turn();
    expect(batches.map(({ questions }) => questions.length)).toEqual([128, 128]);
    for (let next = 0; next < 4; next += 1) {
      batches[next]?.answer();
      await turn();
      await turn();
    }
    expect(batches.map(({ questions }) => questions.length)).toEqual([128, 128, 128, 116]);
    expect(await Promise.all(answers)).toEqual(
      Array.from({ length: 500 }, (_, question) => `answer ${question}`),
    );
  });

  it('are asked one by one after an error that one of them caused, which stays its own', async () => {
    const asked: (readonly number[])[] = [];
    const ask = async (questions: readonly number[]) => {
      asked.push(questions);
      if (questions.includes(3)) throw new Error('three is wrong');
      return questions.map(String);
    };
    const one = coalesce(ask, () => true);
    const answers = await Promise.all([1, 2, 3, 4, 5].map((question) => settled(one(question))));
    expect(answers).toEqual(['1', '2', new Error('three is wrong'), '4', '5']);
    expect(asked).toEqual([[1, 2, 3, 4, 5], [1], [2], [3], [4], [5]]);
  });

  it('all fail with an error that is nobody’s fault', async () => {
    const { batches, ask } = slowDatabase();
    const one = coalesce(ask, never);
    const answers = [1, 2].map((question) => settled(one(question)));
    await turn();
    batches[0]?.fail(new Error('connection lost'));
    expect(await Promise.all(answers)).toEqual([new Error('connection lost'), new Error('connection lost')]);
    expect(batches).toHaveLength(1);
  });

  it('are asked again when the answer says so, and not for ever', async () => {
    let times = 0;
    const twice = coalesce(async (questions: readonly number[]) => {
      times += 1;
      return questions.map((question) => (times === 1 ? ASK_AGAIN : `at ${times}: ${question}`));
    }, never);
    expect(await twice(1)).toBe('at 2: 1');
    const never_ = coalesce(
      async (questions: readonly number[]) => questions.map(() => ASK_AGAIN as string | typeof ASK_AGAIN),
      never,
    );
    expect(await settled(never_(1))).toBeInstanceOf(OverloadedError);
  });

  it('are turned away when too many wait', async () => {
    const { batches, ask } = slowDatabase();
    const one = coalesce(ask, never);
    const answers = Array.from({ length: 2_001 }, (_, question) => settled(one(question)));
    expect(await answers[2_000]).toBeInstanceOf(OverloadedError);
    for (let next = 0; next < 16; next += 1) {
      await turn();
      await turn();
      batches[next]?.answer();
    }
    expect(await answers[1_999]).toBe('answer 1999');
  });

  it('fail loudly when one is left without an answer', async () => {
    const one = coalesce(async () => [] as string[], never);
    expect(await settled(one(1))).toEqual(new Error('a question was left without an answer'));
  });
});
