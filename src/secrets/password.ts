import { availableParallelism, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import { OverloadedError } from '../rules/common/error.ts';
import { MAX_PASSWORD_BYTES } from '../rules/common/limits.ts';
import { lazy } from '../rules/common/memoize.ts';
import { type PasswordQueue, passwordRefusedChannel, passwordStartedChannel } from '../signals/timings.ts';
import { FairQueue, type Turn } from './fairQueue.ts';
import { isOwn, readHash } from './foreignHash.js';

/** Bytes of a check of our form, and of its thread besides. */
const OWN_BYTES = 19 * 2 ** 20;
const THREAD_BYTES = 13 * 2 ** 20;
/** All work may take a third of the memory: of the limit of a container, or else of the machine. */
const MAX_BYTES = Math.min(process.constrainedMemory() || Infinity, totalmem()) / 3;
/** One core stays free. */
const MAX_THREADS = Math.max(1, availableParallelism() - 1);
const CAPACITY = 100;

/** Loaded for the first password: most commands need none. */
const threads = lazy(async (): Promise<Piscina> => {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: fileURLToPath(new URL('./passwordThread.js', import.meta.url)),
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: 60_000, // then a thread ends and frees its memory
    niceIncrement: 10,
  });
});

export interface QueueTicket {
  /** Known devices and signed-in users have their own queue, which attackers can't fill. */
  readonly queue: PasswordQueue;
  /** A network or a login: its checks run one after another, and keys take turns. */
  readonly key: string;
  /** Time of `performance.now()` after which the caller no longer waits for the result. */
  readonly until: number;
}

interface QueuedWork extends Omit<QueueTicket, 'queue'> {
  /** Hashing goes before all checks: a right password allowed it. */
  readonly queue: PasswordQueue | 'hashing';
  readonly bytes: number;
}

interface Waiting extends QueuedWork {
  readonly since: number;
  start(turn: Turn<Waiting>): void;
  reject(error: OverloadedError): void;
}

/** Work in threads: `known` and `stranger` take turns, and nothing overtakes the next one that waits for its memory. */
export class ThreadQueues {
  readonly queues = {
    hashing: new FairQueue<Waiting>(Infinity),
    known: new FairQueue<Waiting>(CAPACITY),
    stranger: new FairQueue<Waiting>(CAPACITY),
  };
  readonly #most: { readonly threads: number; readonly bytes: number };
  readonly #used = { threads: 0, bytes: 0 };
  #next: Turn<Waiting> | undefined;
  #last: PasswordQueue = 'stranger';

  /** @param most what may be used at once; one piece of work may have more bytes if it is alone */
  constructor(most: { readonly threads: number; readonly bytes: number }) {
    this.#most = most;
  }

  /** Does `work` in its turn. @throws {OverloadedError} if the queue is full, or the turn comes too late */
  async run<Result>(queued: QueuedWork, work: () => Promise<Result>): Promise<Result> {
    const turn = await new Promise<Turn<Waiting>>((start, reject) => {
      const waiting = { ...queued, since: performance.now(), start, reject };
      const displaced = this.queues[queued.queue].push(queued.key, waiting);
      displaced?.reject(overloaded(displaced.queue));
      this.#startNext();
    });
    const since = performance.now();
    try {
      return await work();
    } finally {
      turn.end(performance.now() - since);
      this.#used.threads -= 1;
      this.#used.bytes -= queued.bytes;
      this.#startNext();
    }
  }

  #startNext(): void {
    while (this.#used.threads < this.#most.threads) {
      this.#next ??= this.#shift();
      const turn = this.#next;
      if (
        turn === undefined ||
        (this.#used.threads > 0 && this.#used.bytes + turn.task.bytes > this.#most.bytes)
      )
        return;
      this.#next = undefined;
      const { queue, until, since, bytes, start, reject } = turn.task;
      const now = performance.now();
      if (now >= until) {
        turn.end(0);
        reject(overloaded(queue));
        continue;
      }
      if (queue !== 'hashing') passwordStartedChannel.publish({ queue, waitSeconds: (now - since) / 1000 });
      this.#used.threads += 1;
      this.#used.bytes += bytes;
      start(turn);
    }
  }

  #shift(): Turn<Waiting> | undefined {
    const { hashing, ...checks } = this.queues;
    const other = this.#last === 'known' ? 'stranger' : 'known';
    const turn = hashing.shift() ?? checks[other].shift() ?? checks[this.#last].shift();
    if (turn !== undefined && turn.task.queue !== 'hashing') this.#last = turn.task.queue;
    return turn;
  }
}

const turns = new ThreadQueues({ threads: MAX_THREADS, bytes: MAX_BYTES });

const decoyHash = lazy(() => hashPassword('a decoy'));

/** @returns an argon2id hash in PHC string form, with its own salt */
export function hashPassword(password: string): Promise<string> {
  const queued = { queue: 'hashing', key: '', until: Infinity, bytes: THREAD_BYTES + OWN_BYTES } as const;
  return turns.run(queued, async () => (await threads()).run(password, { name: 'hash' }));
}

/** Fails early if the queue would refuse another check. @throws {OverloadedError} */
export function requireRoom({ queue, key }: QueueTicket): void {
  if (!turns.queues[queue].hasRoom(key)) throw overloaded(queue);
}

function overloaded(queue: QueuedWork['queue']): OverloadedError {
  if (queue !== 'hashing') passwordRefusedChannel.publish({ queue });
  return new OverloadedError('too many passwords are waiting to be checked');
}

export function waitingChecks(queue: PasswordQueue): number {
  return turns.queues[queue].size;
}

/**
 * Checks a password, or decoys if `stored` is null or the password too long: the time doesn't reveal a login.
 * @param foreign a decoy of another form than ours, as long as there are any: see `verify` in `passwordThread.js`
 * @returns null if the stored hash can't be read @throws {OverloadedError} if the queue is full, or the turn comes too late
 */
export async function verifyPassword(
  stored: string | null,
  password: string,
  ticket: QueueTicket,
  foreign: string | null = null,
): Promise<boolean | null> {
  const own = await decoyHash(); // always: the first call must take the same time
  const fits = Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
  const task = fits ? { stored, password } : { stored: null, password: '' };
  const check = async () => (await threads()).run({ own, foreign, ...task }, { name: 'verify' });
  const result = await turns.run({ ...ticket, bytes: bytesOf(task.stored, foreign) }, check);
  return stored !== null && fits ? result : false;
}

/** A check compares ours and another service's hash one after the other: see `verify` in `passwordThread.js`. */
function bytesOf(stored: string | null, decoy: string | null): number {
  const foreign = [stored, decoy].flatMap((hash) => (hash === null || isOwn(hash) ? [] : readHash(hash)));
  return THREAD_BYTES + Math.max(OWN_BYTES, foreign.find((read) => 'bytes' in read)?.bytes ?? 0);
}
