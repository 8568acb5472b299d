import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import { onFirstUse } from '../rules/common/kept.ts';
import { MAX_PASSWORD_BYTES } from '../rules/common/limits.ts';
import { type PasswordQueue, passwordRefused, passwordStarted } from '../signals/timings.ts';
import { FairQueue } from './fairQueue.ts';

/** A thread with 19 MiB for a check, and a margin. */
const THREAD_BYTES = 32 * 2 ** 20;
/** The threads' share of a container's memory. */
const MEMORY_PART = 1 / 3;

/** Number of low-priority hashing threads; one core stays free. @param memory of the container, in bytes; 0 for no limit */
export function passwordThreads(cores: number, memory: number): number {
  const fitting = memory === 0 ? Infinity : Math.floor((memory * MEMORY_PART) / THREAD_BYTES);
  return Math.max(1, Math.min(cores - 1, fitting));
}

const MAX_THREADS = passwordThreads(availableParallelism(), process.constrainedMemory() ?? 0);
const NICENESS = 10;
const CAPACITY = 100;
/** An idle thread ends and frees its memory. */
const IDLE_MS = 60_000;

/** Loaded for the first password: most commands need none. */
const threads = onFirstUse(async (): Promise<Piscina> => {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: fileURLToPath(new URL('./passwordThread.js', import.meta.url)),
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: IDLE_MS,
    niceIncrement: NICENESS,
  });
});

export class BusyError extends Error {
  override readonly name = 'BusyError';

  constructor() {
    super('too many passwords are waiting to be checked');
  }
}

export interface QueueTicket {
  /** Known devices and signed-in users have their own queue, which attackers can't fill. */
  readonly queue: PasswordQueue;
  /** A network or a login: its checks run one after another, and keys take turns. */
  readonly key: string;
  /** Time of `performance.now()` after which the caller no longer waits for the result. */
  readonly until: number;
}

interface Check extends Pick<QueueTicket, 'queue' | 'until'> {
  readonly since: number;
  start(): void;
  reject(error: unknown): void;
}

const QUEUES = { known: new FairQueue<Check>(CAPACITY), stranger: new FairQueue<Check>(CAPACITY) };

let decoyHash: Promise<string> | undefined;
let running = 0;
let lastQueue: PasswordQueue = 'stranger';

/** @returns an argon2id hash in PHC string form, with its own salt */
export async function hashPassword(password: string): Promise<string> {
  return (await threads()).run(password, { name: 'hash' });
}

/** Fails early if the queue would refuse another check. @throws {BusyError} */
export function requireRoom({ queue, key }: QueueTicket): void {
  if (!QUEUES[queue].hasRoom(key)) throw refusal(queue);
}

function refusal(queue: PasswordQueue): BusyError {
  passwordRefused.send({ queue });
  return new BusyError();
}

export function waitingChecks(queue: PasswordQueue): number {
  return QUEUES[queue].size;
}

/**
 * Checks a password, or decoys if `stored` is null or the password too long: the time doesn't reveal a login.
 * @param foreign a decoy of another form than ours, as long as there are any: see `verify` in `passwordThread.js`
 * @returns null if the stored hash can't be read @throws {BusyError} if the queue is full, or the turn comes too late
 */
export async function verifyPassword(
  stored: string | null,
  password: string,
  ticket: QueueTicket,
  foreign: string | null = null,
): Promise<boolean | null> {
  decoyHash ??= hashPassword('a decoy');
  const own = await decoyHash; // always: the first call must take the same time
  const fits = Buffer.byteLength(password) <= MAX_PASSWORD_BYTES;
  const task = fits ? { stored, password } : { stored: null, password: '' };
  await turn(ticket);
  try {
    const pool = await threads();
    const result = await pool.run({ own, foreign, ...task }, { name: 'verify' });
    return stored !== null && fits ? result : false;
  } finally {
    running -= 1;
    startChecks();
  }
}

/** Waits for a free thread and takes it. */
function turn({ queue, key, until }: QueueTicket): Promise<void> {
  return new Promise((start, reject) => {
    const displaced = QUEUES[queue].push(key, { queue, until, since: performance.now(), start, reject });
    displaced?.reject(refusal(queue));
    startChecks();
  });
}

/** Gives free threads the next checks, alternating between the queues. */
function startChecks(): void {
  while (running < MAX_THREADS) {
    const check = nextCheck();
    if (check === undefined) return;
    const now = performance.now();
    if (now >= check.until) {
      check.reject(refusal(check.queue));
      continue;
    }
    passwordStarted.send({ queue: check.queue, waitSeconds: (now - check.since) / 1000 });
    running += 1;
    check.start();
  }
}

function nextCheck(): Check | undefined {
  const other = lastQueue === 'known' ? 'stranger' : 'known';
  const check = QUEUES[other].shift() ?? QUEUES[lastQueue].shift();
  lastQueue = check?.queue ?? lastQueue;
  return check;
}
