/** How many waiting questions go out as one statement. */
const LARGEST_BATCH = 128;
/** One statement can wait for its commit while the next is prepared; more of them only wait for each other. */
const MOST_IN_FLIGHT = 2;
/** Beyond these a caller is told to come back later: an answer that late helps nobody. */
const MOST_WAITING = 2_000;
const LONGEST_WAIT_MS = 2_000;
/** How often a question may go into another batch because two in one batch were about the same row. */
const MOST_TRIES = 5;

/** More came than the database can answer in time. */
export class OverloadedError extends Error {
  constructor() {
    super('too many questions are waiting for the database');
  }
}

/** Says that a question has to be asked again, in a batch of its own time. */
export const ASK_AGAIN = Symbol('ask again');

interface Call<Question, Answer> {
  readonly question: Question;
  readonly since: number;
  tries: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Many callers, one statement: what waits while statements are out goes together with the next, so that many
 * share one commit. Nothing is held back to be together: a single call leaves at the end of the same turn.
 *
 * @param ask answers all questions of a batch in one statement, in their order; it must be harmless to ask twice
 * @param splits whether an error may be the fault of one question: then each is asked alone, and everybody else
 *   gets an answer
 * @returns a function for one caller; rejects with {@link OverloadedError} when there is no hope of an answer in time
 */
export function coalesce<Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly (Answer | typeof ASK_AGAIN)[]>,
  splits: (error: unknown) => boolean,
): (question: Question) => Promise<Answer> {
  const waiting: Call<Question, Answer>[] = [];
  let inFlight = 0;
  let scheduled = false;
  let sweeping = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (inFlight < MOST_IN_FLIGHT && waiting.length > 0) void send(waiting.splice(0, LARGEST_BATCH));
    });
  }

  /** Nobody waits longer for a place than an answer is worth, also while all statements are stuck. */
  function sweepLater(): void {
    if (sweeping) return;
    sweeping = true;
    setTimeout(() => {
      sweeping = false;
      waiting.splice(0, waiting.length, ...waiting.filter(isInTime));
      if (waiting.length > 0) sweepLater();
    }, LONGEST_WAIT_MS).unref();
  }

  async function send(calls: Call<Question, Answer>[]): Promise<void> {
    inFlight += 1;
    try {
      await attempt(calls.filter(isInTime));
    } finally {
      inFlight -= 1;
      if (waiting.length > 0) schedule();
    }
  }

  async function attempt(calls: readonly Call<Question, Answer>[]): Promise<void> {
    if (calls.length === 0) return;
    try {
      const answers = await ask(calls.map((call) => call.question));
      calls.forEach((call, index) => {
        settle(call, answers[index]);
      });
    } catch (error) {
      if (calls.length > 1 && splits(error)) await Promise.all(calls.map((call) => attempt([call])));
      else for (const call of calls) call.reject(error);
    }
  }

  function settle(call: Call<Question, Answer>, answer: Answer | typeof ASK_AGAIN | undefined): void {
    if (answer === undefined) call.reject(new Error('a question was left without an answer'));
    else if (answer !== ASK_AGAIN) call.resolve(answer);
    else if (call.tries === MOST_TRIES) call.reject(new OverloadedError());
    else waiting.unshift(Object.assign(call, { tries: call.tries + 1 }));
  }

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= MOST_WAITING) return reject(new OverloadedError());
      waiting.push({ question, since: performance.now(), tries: 0, resolve, reject });
      schedule();
      sweepLater();
    });
}

/** Turns a call away that has waited too long; its caller has given up or is about to. */
function isInTime<Question, Answer>(call: Call<Question, Answer>): boolean {
  if (performance.now() - call.since <= LONGEST_WAIT_MS) return true;
  call.reject(new OverloadedError());
  return false;
}
